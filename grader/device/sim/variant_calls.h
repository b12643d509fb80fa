#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/device/device.h"
#include "grader/device/sim/deadline.h"
#include "grader/device/sim/sim_session.h"
#include "grader/guest/call_protocol.h"

namespace rooflab {

/// The calls of a library's variants behind a first call (RunRequest::variants). What one of them
/// breaks, be it the device's context or the guest's process, is mended before the next one.
class VariantCalls {
 public:
  /// @param first the first call
  VariantCalls(SimSession& session, const RunRequest& request, const Call& first);

  /// Fills in the outcome of the first call, and makes the others.
  /// @param reply to the first call
  /// @throws DeviceError, SandboxError, simgpu::DeviceProcessError where no guest or device can be
  ///         had any more
  void make(const std::optional<Reply>& reply, RunOutcome& outcome);

 private:
  using Clock = std::chrono::steady_clock;
  /// Tensors of these sizes lie there.
  struct Placed {
    std::vector<std::size_t> bytes;
    std::vector<std::uint64_t> addresses;
  };

  void finish_first(const std::optional<Reply>& reply, RunOutcome& outcome);
  void make_all(RunOutcome& outcome);
  VariantCall attempt(std::size_t number);
  VariantCall call(std::size_t number);
  const std::vector<std::uint64_t>& place(const Problem& problem);
  VariantCall collect(const Problem& problem, const std::vector<std::uint64_t>& addresses,
                      const std::optional<Reply>& reply);
  bool has_guest();
  void replace_guest();
  void replace_device();
  void begin_time();
  bool is_time_over() const;

  SimSession& session_;
  const RunRequest& request_;
  const Call first_;
  std::uint64_t stream_;  ///< that the function is given
  std::vector<Placed> placed_;
  simgpu::protocol::VariantLimits limits_;  ///< of the next call
  std::optional<Deadline> deadline_;        ///< for all of them, of the device that there is
  Clock::time_point until_;                 ///< likewise
  double processor_s_ = 0;                  ///< of the processor that they may take
  int replaced_ = 0;                        ///< guests and devices
  bool needs_guest_ = false;                ///< the one that there was has ended, or has to
  bool needs_device_ = false;
  std::optional<std::string> printed_;  ///< by the first guest, which has ended
};

}  // namespace rooflab
