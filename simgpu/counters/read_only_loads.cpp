#include "simgpu/counters/read_only_loads.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "simgpu/memory/device_memory.h"

namespace simgpu {
namespace {

using Kind = TrafficEntry::Kind;

AccessKind access_kind(Kind kind) {
  if (kind == Kind::atomic) return AccessKind::atomic;
  return kind == Kind::store || kind == Kind::strong_store ? AccessKind::store : AccessKind::load;
}

}  // namespace

void ReadOnlyLoads::add(const TrafficLog& log) {
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    const TrafficEntry& entry = log.entries[i];
    if (entry.kind == Kind::bytes) continue;
    const AccessKind kind = access_kind(entry.kind);
    const bool is_read_only_load =
        kind == AccessKind::load && entry.pc < by_pc_.size() && by_pc_[entry.pc];
    if (!is_read_only_load && kind == AccessKind::load) continue;
    const bool is_narrow = i + 1 < log.entries.size() && log.entries[i + 1].kind == Kind::bytes;
    const std::uint32_t bytes =
        is_narrow ? log.entries[i + 1].byte_mask() : bytes_of_words(entry.words);
    for (std::uint32_t k = 0; k < entry.count; ++k) {
      const std::uint32_t lane = entry.lane + k * static_cast<std::uint32_t>(kSectorBytes) /
                                                  std::max<std::uint32_t>(entry.access_bytes, 1);
      const Side side{.block = log.block,
                      .pc = entry.pc,
                      .warp = entry.warp,
                      .lane = static_cast<std::uint8_t>(std::min(lane, kWarpSize - 1)),
                      .access_bytes = entry.access_bytes,
                      .kind = kind};
      if (is_read_only_load) {
        load(side, entry.sector() + k, bytes, i >= log.acquired);
      } else {
        store(side, entry.sector() + k, bytes);
      }
    }
  }
}

/// A load needs a record only where a store may yet turn out to be before it.
void ReadOnlyLoads::load(const Side& side, std::uint64_t sector, std::uint32_t bytes,
                         bool is_behind_atomic) {
  const auto found = sectors_.find(sector);
  if (found != sectors_.end()) {
    const Sector& known = found->second;
    const bool is_own = known.writer.block == side.block;
    const std::uint32_t before = is_behind_atomic ? known.stored
                                 : is_own         ? known.stored_by_writer
                                                  : 0;
    if ((before & bytes) != 0) report(side, known.writer, sector, before & bytes);
  }
  if (!is_behind_atomic || (found == sectors_.end() && sectors_.size() == kMostSectors)) return;
  Sector& known = sectors_[sector];
  if (known.loaded == 0) known.reader = side;
  known.loaded |= bytes;
}

void ReadOnlyLoads::store(const Side& side, std::uint64_t sector, std::uint32_t bytes) {
  const auto found = sectors_.find(sector);
  if (found == sectors_.end() && sectors_.size() == kMostSectors) return;
  Sector& known = found == sectors_.end() ? sectors_[sector] : found->second;
  const std::uint32_t shared = known.loaded & bytes;
  if (shared != 0 && known.reader.block != side.block) report(known.reader, side, sector, shared);
  if (known.writer.block != side.block) known.stored_by_writer = 0;
  known.writer = side;
  known.stored |= bytes;
  known.stored_by_writer |= bytes;
}

void ReadOnlyLoads::report(const Side& load, const Side& store, std::uint64_t sector,
                           std::uint32_t bytes) {
  const auto same = std::ranges::find_if(findings_, [&](const RawFinding& finding) {
    return finding.pc == load.pc && finding.other_pc == store.pc;
  });
  if (same != findings_.end()) {
    ++same->occurrences;
    return;
  }
  RawFinding finding;
  finding.code = "RL0318";
  finding.pc = load.pc;
  finding.block = load.block;
  finding.warp = load.warp;
  finding.lane = load.lane;
  finding.kind = load.kind;
  finding.bytes = load.access_bytes;
  finding.address =
      kDeviceBase + sector * kSectorBytes + static_cast<std::uint64_t>(std::countr_zero(bytes));
  finding.has_other = true;
  finding.other_pc = store.pc;
  finding.other_block = store.block;
  finding.other_warp = store.warp;
  finding.other_lane = store.lane;
  finding.other_kind = store.kind;
  findings_.push_back(finding);
}

std::vector<RawFinding> ReadOnlyLoads::take_findings() { return std::exchange(findings_, {}); }

}  // namespace simgpu
