#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "simgpu/counters/byte_set.h"
#include "simgpu/counters/traffic_log.h"
#include "simgpu/memory/device_memory.h"
#include "simgpu/settled_bytes.h"

namespace simgpu {

/// Of how many allocations it is told what a grid stores to each: a tensor that is left out counts
/// as one that nothing was stored to.
inline constexpr std::size_t kMostStoredAllocations = 1024;

/// The bytes that these entries of a block's log touch: in order, apart from each other.
std::vector<ByteRange> touched_bytes(const TrafficLog& log, KindFilter wanted);
/// Those that the block stored to by plain stores.
std::vector<ByteRange> stored_bytes(const TrafficLog& log);

/// Sorts stretches of memory, and makes one of those that overlap or touch.
void merge_ranges(std::vector<ByteRange>& ranges);
/// Leaves so many, the largest, in order of addresses.
void keep_largest(std::vector<ByteRange>& ranges, std::size_t most);

/// How many bytes the blocks of a grid store to each allocation, as far as some of them tell. Those
/// that blocks of which nothing is known store to besides others count for each.
class StoredByGrid {
 public:
  explicit StoredByGrid(const DeviceMemory& memory) : memory_(memory) {}
  /// @param ranges  what one block stores, or several do together
  /// @param times   how often the grid has the like
  void add(const std::vector<ByteRange>& ranges, double times);
  /// In order of addresses.
  std::vector<ByteRange> by_allocation() const;

 private:
  const DeviceMemory& memory_;
  std::map<std::uint64_t, double> bytes_;  ///< by the allocation's address
};

/// What whole blocks of a launch have stored, so that it can be put back once memory is again as it
/// was before the launch. Only for kernels whose blocks tell each other nothing: there, nobody else
/// changes what a block has stored.
class KeptStores {
 public:
  /// The block has just come to its end, and memory holds what it stored. A block of whose stores
  /// the log does not tell all, and those beyond a limit, are left out whole.
  void keep(const TrafficLog& log, const DeviceMemory& memory);
  /// Writes all of it to memory.
  void put_back(DeviceMemory& memory) const;

  /// Where they stored, as blocks of a grid of so many.
  SettledBytes settled(std::uint64_t blocks, const DeviceMemory& memory) const;
  std::uint64_t blocks() const { return blocks_; }
  /// Those of them that have stored anything.
  std::uint64_t storing() const { return storing_; }

 private:
  std::vector<ByteRange> ranges_;  ///< as they came
  std::vector<std::byte> bytes_;   ///< of one range after the other
  std::uint64_t blocks_ = 0;       ///< that are kept
  std::uint64_t storing_ = 0;      ///< those of them that stored anything
};

}  // namespace simgpu
