#pragma once

#include <cstdint>
#include <memory>
#include <span>

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

  explicit L2Cache(std::uint64_t bytes);

  /// Blocks that are resident together: they take turns until all their logs are used up.
  void run_wave(std::span<const std::unique_ptr<TrafficLog>> wave);

  Counts counts() const {
    return {reads_, writes_, hits_, dram_reads_, dram_writes_ + cache_.dirty_sectors()};
  }
  /// Lines brought in so far, those that had been thrown out before counted again.
  std::uint64_t fills() const { return cache_.fills(); }
  /// Lines that fit.
  std::uint64_t lines() const { return cache_.lines(); }

 private:
  void run(const TrafficEntry& entry);
  void request(std::uint64_t line, std::uint32_t sectors, std::uint32_t words, std::uint32_t count,
               TrafficEntry::Kind kind);

  SectorCache cache_;
  std::uint64_t reads_ = 0, writes_ = 0, hits_ = 0;
  std::uint64_t dram_reads_ = 0, dram_writes_ = 0;
};

}  // namespace simgpu
