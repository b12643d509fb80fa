#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simgpu/device/activity_log.h"
#include "simgpu/device/cuda_error.h"
#include "simgpu/device/device_options.h"
#include "simgpu/device/host_findings.h"
#include "simgpu/device/memory_pools.h"
#include "simgpu/device/streams.h"
#include "simgpu/device/timeline.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {

class Provenance;

/// What the guest has allocated, how much it may, and who made it where. What the trusted side and
/// modules place in the device's memory is not among it.
class Allocations {
 public:
  /// Where a leaked allocation was made, as far as the device knows.
  struct Entry {
    std::uint64_t bytes = 0;
    const char* function = "";                 ///< of the runtime
    std::optional<std::uint64_t> pool;         ///< that it came from
    std::uint64_t number = 0;                  ///< 1 for the guest's first
    std::shared_ptr<const std::string> after;  ///< the kernel launched last; null before the first
    std::vector<HostFrame> called_from;        ///< of the call that made it
  };

  Allocations(const DeviceOptions& options, DeviceMemory& memory, Timeline& timeline,
              ActivityLog& log, MemoryPools& pools, Streams& streams, HostFindings& host_findings)
      : options_(options),
        memory_(memory),
        timeline_(timeline),
        log_(log),
        pools_(pools),
        streams_(streams),
        host_findings_(host_findings) {}

  CudaError allocate(std::uint64_t bytes, std::uint64_t* address);
  CudaError allocate_array(std::uint64_t bytes, std::uint64_t* address);
  CudaError allocate_from_pool(std::uint64_t bytes, std::uint64_t pool, std::uint64_t* address);
  /// Memory that the guest maps: managed, or its own pinned memory.
  CudaError allocate_shared(std::uint64_t bytes, Sharing sharing, SharedBlock* block);
  CudaError release(std::uint64_t address);
  /// cudaFreeAsync: the memory is freed when its turn comes on the stream.
  CudaError release_on(std::uint64_t address, std::uint64_t stream);
  /// Pinned memory, which cudaFree does not take.
  CudaError release_pinned(std::uint64_t address);
  /// The guest is gone: the next one's allocations are counted from 1 again.
  void release_all();
  /// A call begins that is independent of those before it. What failed ones have left is freed once
  /// it is much, and not before: a function may keep what it allocated in a call that failed, and
  /// use it in its next one.
  void begin_independent_call(bool follows_failure);
  /// What it may allocate besides.
  std::uint64_t free_bytes() const;
  /// Learns what is released from now on.
  void follow(Provenance* provenance) { provenance_ = provenance; }
  /// A kernel is launched: what is allocated from now on was made behind it.
  void note_kernel(std::shared_ptr<const std::string> name) { last_kernel_ = std::move(name); }

  /// By address, pinned memory left out.
  const std::map<std::uint64_t, Entry>& live() const { return live_; }
  /// Addresses.
  const std::set<std::uint64_t>& pinned() const { return pinned_; }

 private:
  CudaError place(std::uint64_t bytes, const char* function, std::uint64_t* address);
  void remember(std::uint64_t address, std::uint64_t bytes, const char* function);
  void free_left();
  std::uint64_t bytes_at(std::uint64_t address) const;
  std::set<std::uint64_t> addresses() const;

  const DeviceOptions& options_;
  DeviceMemory& memory_;
  Timeline& timeline_;
  ActivityLog& log_;
  MemoryPools& pools_;
  Streams& streams_;
  HostFindings& host_findings_;
  std::map<std::uint64_t, Entry> live_;
  std::set<std::uint64_t> pinned_;
  std::set<std::uint64_t> at_begin_;  ///< addresses that there were when an independent call began
  std::set<std::uint64_t> left_;      ///< by failed independent calls
  std::uint64_t made_ = 0;
  Provenance* provenance_ = nullptr;
  std::shared_ptr<const std::string> last_kernel_;
};

}  // namespace simgpu
