#pragma once

#include <cstdint>

#include "simgpu/counters/traffic.h"
#include "simgpu/exec/memory_counts.h"

namespace simgpu {

/// How often the blocks that ran here have changed memory: whoever waits does so for a change.
class MemoryChanges {
 public:
  /// @param counted of the same blocks, as `traffic` is
  MemoryChanges(const BlockTraffic& traffic, const MemoryCounts& counted)
      : traffic_(traffic), counted_(counted) {}

  /// An atomic has changed memory. Plain stores are counted as traffic.
  void note_atomic() { ++atomics_; }
  /// A store gives global memory another value than it had; where LaunchContext::watches_values.
  void note_new_value() { ++new_values_; }

  /// At least one for each change of global memory.
  std::uint64_t of_global() const { return atomics_ + traffic_.store_requests(); }
  /// Only those that gave it another value.
  std::uint64_t new_values() const { return atomics_ + new_values_; }
  /// A number that is another one after each change of global or shared memory.
  std::uint64_t effects() const { return of_global() + counted_.shared_store_requests; }

 private:
  const BlockTraffic& traffic_;
  const MemoryCounts& counted_;
  std::uint64_t atomics_ = 0;
  std::uint64_t new_values_ = 0;
};

}  // namespace simgpu
