#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "simgpu/counters/sector_cache.h"
#include "simgpu/device/activity_log.h"
#include "simgpu/device/allocations.h"
#include "simgpu/device/cuda_error.h"
#include "simgpu/device/device_options.h"
#include "simgpu/device/fault.h"
#include "simgpu/device/host_findings.h"
#include "simgpu/device/host_traffic.h"
#include "simgpu/device/known_launches.h"
#include "simgpu/device/launch_choices.h"
#include "simgpu/device/launch_time.h"
#include "simgpu/device/loaded_modules.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/since_mark.h"
#include "simgpu/device/streams.h"
#include "simgpu/device/timeline.h"
#include "simgpu/exec/engine.h"
#include "simgpu/exec/kernel_heap.h"
#include "simgpu/memory/device_memory.h"
#include "simgpu/model/time_model.h"
#include "specs/gpu_spec.h"

namespace simgpu {

/// The launches of kernels, which run whole as they are made: whether they may, what they get
/// beside their parameters (stack, heap, budget), what they have printed, and those whose outcome
/// is known already.
class Launches {
 public:
  /// What launches act on.
  struct Parts {
    const gpu_spec::GpuSpec& gpu;
    const DeviceOptions& options;
    DeviceMemory& memory;
    Timeline& timeline;
    ActivityLog& log;
    Fault& fault;
    SinceMark& since_mark;
    ManagedContents& managed;
    LoadedModules& modules;
    Streams& streams;
    Allocations& allocations;
    HostFindings& host_findings;
  };
  explicit Launches(const Parts& parts);

  /// What launch() would refuse, with its finding.
  CudaError check(const protocol::LaunchMessage& message, std::size_t parameter_bytes);
  CudaError launch(const protocol::LaunchMessage& message, std::span<const std::byte> parameters);
  /// How many did not execute so far, because one like them had told their outcome.
  std::uint64_t repeats() const { return repeats_; }

  /// cudaLimitStackSize: bytes of each thread for calls of functions that are not inlined.
  std::uint32_t stack_bytes() const { return stack_bytes_; }
  CudaError set_stack_bytes(std::uint64_t bytes);
  /// cudaLimitMallocHeapSize, of which kernels' malloc takes.
  CudaError set_heap_bytes(std::uint64_t bytes);
  const KernelHeap& heap() const { return heap_; }
  KernelHeap& heap() { return heap_; }
  /// EngineOptions::secret of the launches from now on.
  void set_secret(std::uint64_t secret) { secret_ = secret; }

  /// Device printf output that the guest has not taken yet.
  std::string take_output() { return std::exchange(output_, {}); }
  bool has_output() const { return !output_.empty(); }

  /// Sees every instruction of the launches from now on, all of which are executed.
  void observe(StepObserver* observer) { observer_ = observer; }

  /// The guest is gone, and what its kernels have allocated.
  void forget_all();

 private:
  KnownLaunches::Key key_of(const protocol::LaunchMessage& message,
                            std::span<const std::byte> parameters) const;
  LaunchResult run(const LoadedKernel& kernel, const protocol::LaunchMessage& message,
                   std::span<const std::byte> parameters);
  LaunchRequest request_of(const LoadedKernel& kernel, const protocol::LaunchMessage& message,
                           std::span<const std::byte> parameters);
  EngineOptions options_on(std::uint64_t stream);
  std::uint64_t grid_workspace();
  std::uint64_t budget() const;
  std::vector<std::uint64_t> written_in_this_call() const;
  void note_touched(const LoadedKernel& kernel, const protocol::LaunchMessage& message,
                    LaunchResult& result);
  void finish(const LoadedKernel& kernel, const protocol::LaunchMessage& message,
              const LaunchResult& result, const HostTraffic& host);
  void tell(const LoadedKernel& kernel, const LaunchResult& result);
  void tell_lines(const LoadedKernel& kernel, const LaunchResult& result, const LaunchTime& time,
                  KernelRecord& record);

  const Parts parts_;
  SectorCache l2_memory_;
  KernelHeap heap_;
  std::uint32_t stack_bytes_ = kDefaultStackBytes;
  std::uint64_t grid_workspace_ = 0;  ///< device address, once there was a cooperative launch
  std::uint64_t secret_ = 0;
  KnownLaunches known_launches_;
  LaunchTimes launch_times_;
  LaunchChoices launch_choices_;
  std::uint64_t repeats_ = 0;
  StepObserver* observer_ = nullptr;
  std::string output_;
  std::uint64_t failed_block_ = 0;  ///< of the last launch that did not come to its end
};

}  // namespace simgpu
