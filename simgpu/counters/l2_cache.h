#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "simgpu/counters/load_counts.h"
#include "simgpu/counters/sector_cache.h"
#include "simgpu/counters/traffic_log.h"
#include "simgpu/report.h"

namespace simgpu {

/// L2 with write-back, in front of DRAM, as one launch sees it: empty at the start, its dirty
/// sectors written back at the end.
class L2Cache {
 public:
  /// Logs held back at most before they are run; a wave with more is run in parts.
  static constexpr std::uint64_t kMostPendingEntries = std::uint64_t{1} << 24;

  /// In 32-byte sectors.
  struct Counts {
    std::uint64_t reads = 0, writes = 0, hits = 0;
    std::uint64_t dram_reads = 0;
    std::uint64_t dram_writes = 0;  ///< those that a write-back now would make included
  };

  /// @param one_in  of so many sets of the cache, one chosen by chance is simulated, and what falls
  /// into the others is left out: what happens in a set depends on no other
  explicit L2Cache(std::uint64_t bytes, std::uint32_t one_in = 1);
  /// With memory that was used before, which takes less time to get. @param memory of storage()
  explicit L2Cache(SectorCache& memory);
  static SectorCache storage(std::uint64_t bytes);

  /// Blocks that are resident together: they take turns until all their logs are used up.
  void run_wave(std::span<const std::unique_ptr<TrafficLog>> wave);

  /// What remains of a log when what falls into sets that are left out is dropped.
  struct ThinLog {
    std::vector<TrafficEntry> entries;
    std::vector<std::uint32_t> turns;  ///< by entry: the block's turn, counting from 0
  };
  void thin(const TrafficLog& log, ThinLog& thin);
  /// The same as if the whole logs were run.
  void run_wave(std::span<const ThinLog> wave);

  /// Of the sets that are simulated.
  Counts counts() const;
  /// The sets that are simulated fall into groups by chance, so that their counts tell how far
  /// chance goes. Without sampling there is one.
  static constexpr std::size_t kGroups = 16;
  std::uint32_t one_in() const { return one_in_; }
  const std::array<Counts, kGroups>& groups() const { return groups_; }
  /// How many loads came, and how many of them DRAM had to serve. Where some sets stand for all,
  /// lines are counted instead of requests, of which only parts are seen: all that came, and as
  /// many misses as all sets have. A line that all blocks read lies in one set, and seldom in one
  /// of those.
  const LoadCountsByPc& loads() const { return loads_; }
  /// Lines brought in so far, those that had been thrown out before counted again.
  std::uint64_t fills() const { return cache_.fills(); }
  /// Lines that fit.
  std::uint64_t lines() const { return cache_.lines(); }

 private:
  /// Where in a block's log the cache is.
  struct Place {
    std::size_t next = 0;
    bool missed = false;  ///< the request that is being run, in part
  };
  /// A line and the turn in which DRAM was asked for it, as one number.
  std::uint64_t fetch_in_this_turn(std::uint64_t line) const;
  std::uint64_t& last_fetch_like(std::uint64_t line);
  void begin_wave(std::size_t blocks);
  bool any_simulated(const TrafficEntry& entry) const;
  void run(const TrafficEntry& entry, bool& missed);
  bool request(std::uint64_t line, std::uint32_t sectors, std::uint32_t words, std::uint32_t count,
               TrafficEntry::Kind kind);

  std::optional<SectorCache> own_;
  SectorCache& cache_;
  std::uint32_t one_in_ = 1;
  std::vector<std::uint8_t> group_of_;  ///< by set; empty: all are simulated, in the first group
  std::array<Counts, kGroups> groups_{};
  LoadCountsByPc loads_;
  /// What resident blocks ask for in the same turn they ask for together: who comes second finds
  /// the line in the cache, and waits for DRAM like the first. By line; what has lost its place
  /// passes for lines that are there.
  std::vector<std::uint64_t> fetched_;
  int fetched_bits_ = 0;    ///< its size as a power of two
  std::uint64_t turn_ = 0;  ///< of the launch
};

}  // namespace simgpu
