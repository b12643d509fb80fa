#include "simgpu/exec/block_sampler.h"

#include <algorithm>
#include <utility>

namespace simgpu {
namespace {

/// Of all logs that are kept for comparison: 512 MiB.
constexpr std::uint64_t kMostEntriesOfSamples = (std::uint64_t{512} << 20) / sizeof(TrafficEntry);
/// A block that takes this much longer than all before it waits for another block.
constexpr std::uint64_t kMostTimesLonger = 512;
constexpr std::uint64_t kLeastBudget = 16'000'000;

bool same_counts(const ExecutionCount& a, const ExecutionCount& b) {
  return a.warps == b.warps && a.threads == b.threads;
}

/// The same but for the sector. A mask of bytes lies where other entries have their sector.
bool same_kind(const TrafficEntry& a, const TrafficEntry& b) {
  return a.kind == b.kind && a.pc == b.pc && a.count == b.count && a.words == b.words &&
         (a.kind != TrafficEntry::Kind::bytes || a.byte_mask() == b.byte_mask());
}

bool same_requests(const TrafficLog& a, const TrafficLog& b) {
  return a.load_sectors == b.load_sectors && a.store_sectors == b.store_sectors &&
         a.l1_hit_sectors == b.l1_hit_sectors && a.tag_lookups == b.tag_lookups &&
         std::ranges::equal(a.entries, b.entries, same_kind);
}

}  // namespace

bool same_pace(const BlockWeights::Weight& a, const BlockWeights::Weight& b) {
  constexpr double kMuch = 1.25;
  const auto is_close = [&](std::uint64_t BlockWeights::Weight::*field) {
    const auto [less, more] = std::minmax(a.*field, b.*field);
    return static_cast<double>(more) <= kMuch * static_cast<double>(less);
  };
  return is_close(&BlockWeights::Weight::longest_way) &&
         is_close(&BlockWeights::Weight::longest_time) &&
         is_close(&BlockWeights::Weight::busiest_scheduler);
}

bool same_instructions(const BlockProfile& a, const BlockProfile& b) {
  return std::ranges::equal(a.sums.blocks, b.sums.blocks, same_counts) &&
         a.sums.guarded_threads == b.sums.guarded_threads && a.sums.memory == b.sums.memory &&
         a.log->load_requests == b.log->load_requests &&
         a.log->store_requests == b.log->store_requests && a.log->load_bytes == b.log->load_bytes &&
         a.log->store_bytes == b.log->store_bytes &&
         same_pace(a.sums.weights.all, b.sums.weights.all);
}

bool same_work(const BlockProfile& a, const BlockProfile& b) {
  return same_instructions(a, b) && same_requests(*a.log, *b.log);
}

BlockSampler::BlockSampler(LaunchContext& launch)
    : launch_(launch), budget_(launch.instruction_budget), runner_(launch) {}

const BlockProfile& BlockSampler::profile(std::uint64_t block) {
  if (const auto known = profiles_.find(block); known != profiles_.end()) return known->second;
  if (!profiles_.empty()) {
    const std::uint64_t own = std::max(kMostTimesLonger * most_instructions_, kLeastBudget);
    launch_.instruction_budget = std::min(budget_, runner_.work() + own);
  }
  const std::uint64_t before = instructions();
  runner_.clear_counts();
  runner_.run(block);
  most_instructions_ = std::max(most_instructions_, instructions() - before);
  if (!runner_.take_printed().empty()) give_up();
  if (auto findings = runner_.take_findings(); !findings.empty()) {
    findings_[block] = std::move(findings);
  }
  BlockProfile profile{CounterSums(launch_.kernel), runner_.take_traffic()};
  profile.slots = runner_.counts().last_weight().slots;
  profile.sums.add(runner_);
  const TrafficLog& log = *profile.log;
  conflicts_.add(log);
  kept_entries_ += log.entries.size();
  const bool whole = log.unlogged_reads + log.unlogged_writes == 0;
  if (!whole || conflicts_.any() || kept_entries_ > kMostEntriesOfSamples) give_up();
  return profiles_.emplace(block, std::move(profile)).first->second;
}

void BlockSampler::give_up() {
  given_up_ = true;
  throw NotSampled{};
}

std::vector<RawFinding> BlockSampler::findings() const {
  std::vector<RawFinding> all;
  for (const auto& [block, findings] : findings_) {
    all.insert(all.end(), findings.begin(), findings.end());
  }
  return all;
}

}  // namespace simgpu
