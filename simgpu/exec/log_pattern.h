#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simgpu/counters/byte_set.h"
#include "simgpu/counters/traffic_log.h"

namespace simgpu {

/// Both ask for the same, by the same instruction, if at another address.
bool same_kind(const TrafficEntry& a, const TrafficEntry& b);

/// The logs of blocks that go on for different numbers of turns, a constant number of turns more
/// from each to the next: the longest block's log with a piece left out. What comes before and
/// after the piece moves, entry by entry, by a constant step from block to block; and by what the
/// caller says of each instruction.
class LogPattern {
 public:
  /// Of a block that is like no other.
  explicit LogPattern(const TrafficLog& only);

  /// From the last block, the one before it and the one `places` before it; nullopt when the first
  /// one's log is not what the other two tell.
  static std::optional<LogPattern> fit(const TrafficLog& first, const TrafficLog& last_but_one,
                                       const TrafficLog& last, std::uint64_t places);

  /// The log of the block `before_last` places before the last one.
  /// @param moves sectors, by index in instructions(); empty: none
  void log_of(std::uint64_t before_last, std::span<const std::int64_t> moves,
              TrafficLog& log) const;
  /// Only those of its entries that `only` lists, of entries_with().
  void log_of(std::uint64_t before_last, std::span<const std::int64_t> moves,
              const std::vector<std::uint32_t>& only, TrafficLog& log) const;
  /// The entries of these kinds, and what narrows them.
  std::vector<std::uint32_t> entries_with(KindFilter wanted) const;
  /// Instructions (pc) that have entries, in ascending order.
  const std::vector<std::uint32_t>& instructions() const { return instructions_; }

 private:
  /// A stretch of the entries, all of which count from the log's beginning or end.
  struct Stretch {
    std::size_t first = 0, last = 0;
    bool from_end = false;
  };
  std::array<Stretch, 2> stretches(std::uint64_t before_last) const;
  TrafficEntry moved(std::size_t entry, bool from_end, std::int64_t places,
                     std::span<const std::int64_t> moves) const;

  std::vector<TrafficEntry> entries_;  ///< of the last block
  std::size_t tail_ = 0;               ///< entries of every log that count from its end
  std::int64_t growth_ = 0;            ///< entries from block to block
  /// Sectors from block to block, by entry, where the entry counts from the log's beginning or end.
  /// Shorter than the log: of what no other block has, no step is known, nor needed.
  std::vector<std::int64_t> head_steps_, tail_steps_;
  std::vector<std::uint32_t> instructions_;
  std::vector<std::uint16_t> instruction_of_;  ///< by entry: index in instructions_
};

}  // namespace simgpu
