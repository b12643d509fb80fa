#include "simgpu/counters/stale_loads_of_blocks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "simgpu/checkers/findings.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {
namespace {

using Kind = TrafficEntry::Kind;

}  // namespace

void StaleLoadsOfBlocks::add(const TrafficLog& log) {
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    const TrafficEntry& entry = log.entries[i];
    if (entry.kind == Kind::bytes) continue;
    const AccessKind kind = access_kind(entry.kind);
    const bool may_be_stale = i >= log.acquired && entry.pc < by_pc_.size() && by_pc_[entry.pc];
    if (kind == AccessKind::load && !may_be_stale) continue;
    const std::uint32_t narrowed = log.narrowed_bytes(i);
    const std::uint32_t bytes = narrowed != 0 ? narrowed : bytes_of_words(entry.words);
    for (std::uint32_t k = 0; k < entry.count; ++k) {
      const Side side{.block = log.block,
                      .pc = entry.pc,
                      .warp = entry.warp,
                      .lane = entry.lane_of_sector(k),
                      .access_bytes = entry.access_bytes,
                      .kind = kind,
                      .bytes = bytes,
                      .mixes = entry.mixes != 0};
      touch(side, entry.sector() + k, bytes);
    }
  }
}

void StaleLoadsOfBlocks::touch(const Side& side, std::uint64_t sector, std::uint32_t bytes) {
  const auto found = sectors_.find(sector);
  if (found == sectors_.end() && sectors_.size() == kMostSectors) return;
  Sector& known = found == sectors_.end() ? sectors_[sector] : found->second;
  const bool loads = side.kind == AccessKind::load;
  std::uint32_t& touched = loads ? known.loaded : known.stored;
  if (touched == 0) (loads ? known.reader : known.writer) = side;
  touched |= bytes;
  const std::uint32_t shared = (loads ? known.stored : known.loaded) & bytes;
  if (shared != 0 && known.reader.block != known.writer.block) report(known, sector, shared);
}

std::optional<std::uint8_t> StaleLoadsOfBlocks::lane_at(const Side& side, std::uint32_t byte) {
  const bool is_of_side = (side.bytes >> byte & 1U) != 0;
  if (side.mixes || !is_of_side) return std::nullopt;
  const auto before =
      static_cast<std::uint32_t>(std::popcount(side.bytes & ((std::uint32_t{1} << byte) - 1U)));
  const std::uint32_t lane = side.lane + before / std::max<std::uint32_t>(side.access_bytes, 1);
  if (lane >= kWarpSize) return std::nullopt;
  return static_cast<std::uint8_t>(lane);
}

void StaleLoadsOfBlocks::report(const Sector& known, std::uint64_t sector, std::uint32_t bytes) {
  const Side& load = known.reader;
  const Side& store = known.writer;
  const auto same = std::ranges::find_if(findings_, [&](const RawFinding& finding) {
    return finding.pc == load.pc && finding.other_pc == store.pc;
  });
  if (same != findings_.end()) {
    ++same->occurrences;
    return;
  }
  const auto byte = static_cast<std::uint32_t>(std::countr_zero(bytes));
  const auto load_lane = lane_at(load, byte), store_lane = lane_at(store, byte);
  RawFinding finding;
  finding.code = "RL0318";
  finding.pc = load.pc;
  finding.block = load.block;
  finding.warp = load.warp;
  finding.lane = load_lane.value_or(load.lane);
  finding.knows_thread = load_lane.has_value();
  finding.kind = load.kind;
  finding.bytes = load.access_bytes;
  finding.address = kDeviceBase + sector * kSectorBytes + byte;
  set_other(finding, store.block, store);
  finding.other_lane = store_lane.value_or(store.lane);
  finding.other_knows_thread = store_lane.has_value();
  findings_.push_back(finding);
}

}  // namespace simgpu
