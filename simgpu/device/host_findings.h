#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "simgpu/device/activity_log.h"
#include "simgpu/device/cuda_error.h"
#include "simgpu/device/device_options.h"
#include "simgpu/device/fault.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/since_mark.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {

/// What the host's code does wrong by its calls, told as findings: it has no place in the device's
/// source. What it forgets to give back is in leaks.h, what it writes too early in Streams.
class HostFindings {
 public:
  HostFindings(const DeviceOptions& options, const DeviceMemory& memory, ActivityLog& log,
               Fault& fault, SinceMark& since_mark)
      : options_(options), memory_(memory), log_(log), fault_(fault), since_mark_(since_mark) {}

  /// Another guest comes, which is not ended by what the one before it did.
  void begin_guest();
  /// The host has made a call. @param waits it asked for what is not done yet
  void note_call(bool waits);
  /// Whether the host goes on and on behind the limit, or behind a fault that it does not look at.
  bool is_endless() const;

  /// What the guest's own library refused becomes a finding.
  void report_misuse(const protocol::Misuse& misuse);
  /// Host code has read or written what a device pointer points to.
  void report_dereference(std::uint64_t address);
  /// cudaEventElapsedTime of events of which at least one was never recorded.
  void report_unrecorded(bool start, bool stop);
  /// The program called a function that its library does not have, or not in this way.
  void report_refused(const std::string& function, bool in_part);
  /// A call named a stream or an event that is not there.
  void report_no_handle(const std::string& function);
  /// cudaFree of what cudaMalloc did not return, or of what was freed before.
  void report_bad_free(std::uint64_t address);
  /// A copy from the device takes what nothing has written.
  void report_unwritten(const protocol::CopyRequest& request);
  /// Whether these rows lie in one allocation; if not, that is a finding.
  /// @param what touches them, "a memset"
  bool check_range(const char* what, std::uint64_t address, std::uint64_t pitch,
                   std::uint64_t width, std::uint64_t height);

  /// The kernel whose launch is being checked; empty: there is no such kernel.
  void note_checked_launch(std::string kernel) { checked_kernel_ = std::move(kernel); }
  /// A launch failed whose result the program cannot see: unless it asks for the last error before
  /// the end or a reset, that is a finding (RL0314).
  void note_unasked_launch(CudaError error);
  void note_asked() { unasked_.reset(); }
  void report_unasked();

 private:
  struct UnaskedLaunch {
    CudaError error = CudaError::success;
    std::string kernel;
    std::uint64_t count = 0;
    AccessSite where;  ///< the first one
  };

  /// Tells of misuse that has no code of its own.
  void report(std::string message, FindingDetail detail = FindingDetail::none);
  std::string describe_pointer(std::uint64_t address) const;

  const DeviceOptions& options_;
  const DeviceMemory& memory_;
  ActivityLog& log_;
  Fault& fault_;
  SinceMark& since_mark_;
  std::string checked_kernel_;  ///< of the launch that was checked last
  std::optional<UnaskedLaunch> unasked_;
};

}  // namespace simgpu
