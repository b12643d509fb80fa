#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "simgpu/counters/traffic_log.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {

/// The allocations that blocks of a launch read and wrote, from their logs. Constant variables that
/// are read as such are in no log.
class TouchedMemory {
 public:
  explicit TouchedMemory(const DeviceMemory& memory) : memory_(memory) {}

  void add_loads(const TrafficLog& log);
  void add_stores(const TrafficLog& log);

  /// Counts a change of each allocation that was stored to, of all if the logs do not tell.
  void note_changes(DeviceMemory& memory) const;
  /// Base addresses of all allocations touched; nullopt when one was both read and written, or the
  /// logs do not tell.
  std::optional<std::vector<std::uint64_t>> constant() const;

 private:
  struct Bases {
    std::set<std::uint64_t> known;
    bool complete = true;
    std::uint64_t base = 0, end = 0;  ///< of the allocation that was found last
  };
  void add(const TrafficEntry& entry, Bases& bases) const;

  const DeviceMemory& memory_;
  Bases read_, written_;
};

}  // namespace simgpu
