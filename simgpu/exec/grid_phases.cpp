#include "simgpu/exec/grid_phases.h"

#include <algorithm>

#include "simgpu/counters/block_conflicts.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {
namespace {

using Kind = TrafficEntry::Kind;

constexpr std::uint64_t kMostEntriesKept = std::uint64_t{8} << 20;
constexpr std::size_t kMostPhases = 1024;

}  // namespace

GridPhases::GridPhases(std::uint64_t workspace)
    : workspace_sector_((workspace - kDeviceBase) / kSectorBytes) {}

bool GridPhases::is_workspace(const TrafficEntry& entry) const {
  return is_strong(entry.kind) && entry.sector() == workspace_sector_;
}

void GridPhases::add(const TrafficLog& log) {
  kept_ += log.entries.size();
  too_much_ = too_much_ || kept_ > kMostEntriesKept;
  if (too_much_) {
    blocks_.clear();
    return;
  }
  Block block{.log = {}, .ends = {}};
  block.log.block = log.block;
  block.log.entries = log.entries;
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    // A block arrives with one atomic; then it only looks at the word.
    if (log.entries[i].kind == Kind::atomic && is_workspace(log.entries[i])) {
      block.ends.push_back(i);
    }
  }
  block.ends.push_back(log.entries.size());
  blocks_.push_back(std::move(block));
}

/// That a fence lies before what releases is not looked at here: a race is missed rather than
/// invented. An atomic releases what is before it, and not itself.
TrafficLog GridPhases::phase_of(const Block& block, std::size_t phase) const {
  TrafficLog part;
  part.block = block.log.block;
  if (phase >= block.ends.size()) return part;
  const std::size_t first = phase == 0 ? 0 : block.ends[phase - 1];
  for (std::size_t i = first; i < block.ends[phase]; ++i) {
    const TrafficEntry& entry = block.log.entries[i];
    if (is_workspace(entry)) continue;
    part.entries.push_back(entry);
    if (!is_strong(entry.kind)) continue;
    if (entry.kind != Kind::strong_load) part.released = part.entries.size() - 1;
    part.acquired = std::min(part.acquired, part.entries.size());
  }
  return part;
}

std::vector<RawFinding> GridPhases::take_findings() {
  std::vector<RawFinding> all;
  std::size_t phases = 0;
  for (const Block& block : blocks_) phases = std::max(phases, block.ends.size());
  if (phases == 1 || phases > kMostPhases) phases = 0;
  for (std::size_t phase = 0; phase < phases; ++phase) {
    BlockConflicts conflicts;
    for (const Block& block : blocks_) conflicts.add(phase_of(block, phase));
    for (const RawFinding& finding : conflicts.take_findings()) all.push_back(finding);
  }
  blocks_.clear();
  return all;
}

}  // namespace simgpu
