#include "simgpu/exec/work_counts.h"

#include <array>
#include <iterator>

namespace simgpu {
namespace {

constexpr std::array kMemoryFields{&MemoryCounts::shared_load_requests,
                                   &MemoryCounts::shared_store_requests,
                                   &MemoryCounts::shared_load_wavefronts,
                                   &MemoryCounts::shared_store_wavefronts,
                                   &MemoryCounts::shared_load_conflicts,
                                   &MemoryCounts::shared_store_conflicts,
                                   &MemoryCounts::shared_atomic_requests,
                                   &MemoryCounts::shared_atomic_wavefronts,
                                   &MemoryCounts::local_load_requests,
                                   &MemoryCounts::local_store_requests,
                                   &MemoryCounts::local_load_sectors,
                                   &MemoryCounts::local_store_sectors,
                                   &MemoryCounts::local_tag_lookups,
                                   &MemoryCounts::local_touched_sectors,
                                   &MemoryCounts::generic_load_requests,
                                   &MemoryCounts::generic_global_load_requests,
                                   &MemoryCounts::constant_load_requests,
                                   &MemoryCounts::constant_load_wavefronts,
                                   &MemoryCounts::branches,
                                   &MemoryCounts::divergent_branches,
                                   &MemoryCounts::barriers,
                                   &MemoryCounts::slept_ns};
static_assert(sizeof(MemoryCounts) == kMemoryFields.size() * sizeof(std::uint64_t));

constexpr std::array kLogFields{
    &TrafficLog::load_requests,  &TrafficLog::store_requests, &TrafficLog::atomic_requests,
    &TrafficLog::load_sectors,   &TrafficLog::store_sectors,  &TrafficLog::atomic_sectors,
    &TrafficLog::load_bytes,     &TrafficLog::store_bytes,    &TrafficLog::atomic_bytes,
    &TrafficLog::l1_hit_sectors, &TrafficLog::tag_lookups};

/// What follows the log's fields: sectors that L2 is asked for, the log's length, and the issue
/// slots.
enum Last : std::size_t { kReadSectors, kWriteSectors, kEntries, kSlots, kLastNumbers };

std::uint64_t last_of(const WorkCounts& counts, Last which) {
  return static_cast<std::uint64_t>(counts[counts.size() - kLastNumbers + which]);
}

}  // namespace

WorkCounts work_counts(const BlockProfile& profile) {
  WorkCounts counts;
  const std::size_t instructions = profile.sums.blocks.size();
  counts.reserve(3 * instructions + profile.sums.accesses.size() * std::size(kAccessFields) +
                 kMemoryFields.size() + kLogFields.size() + kLastNumbers);
  const auto add = [&](std::uint64_t count) { counts.push_back(static_cast<std::int64_t>(count)); };
  for (const ExecutionCount& count : profile.sums.blocks) {
    add(count.warps);
    add(count.threads);
  }
  for (const std::uint64_t threads : profile.sums.guarded_threads) add(threads);
  for (const AccessCounts& accesses : profile.sums.accesses) {
    for (const auto field : kAccessFields) add(accesses.*field);
  }
  for (const auto field : kMemoryFields) add(profile.sums.memory.*field);
  const TrafficLog& log = *profile.log;
  for (const auto field : kLogFields) add(log.*field);
  std::uint64_t reads = 0, writes = 0;
  for (const TrafficEntry& entry : log.entries) {
    if (entry.kind == TrafficEntry::Kind::load) reads += entry.count;
    if (entry.kind == TrafficEntry::Kind::store) writes += entry.count;
  }
  add(reads);
  add(writes);
  add(log.entries.size());
  add(profile.slots);
  return counts;
}

void add_times(WorkCounts& total, const WorkCounts& block, std::int64_t times) {
  if (total.empty()) total.resize(block.size());
  for (std::size_t i = 0; i < total.size(); ++i) total[i] += times * block[i];
}

void set_counters(const LoweredKernel& kernel, const WorkCounts& total, LaunchResult& result) {
  CounterSums sums(kernel);
  auto next = total.begin();
  const auto take = [&] { return static_cast<std::uint64_t>(*next++); };
  for (ExecutionCount& count : sums.blocks) {
    count.warps = take();
    count.threads = take();
  }
  for (std::uint64_t& threads : sums.guarded_threads) threads = take();
  for (AccessCounts& accesses : sums.accesses) {
    for (const auto field : kAccessFields) accesses.*field = take();
  }
  for (const auto field : kMemoryFields) sums.memory.*field = take();
  TrafficLog log;
  for (const auto field : kLogFields) log.*field = take();
  result.executed = by_instruction(kernel, sums);
  result.accesses = accesses_by_instruction(kernel, sums);
  add_counters(kernel, result.executed, sums.memory, result.counters);
  add_requests(log, result.counters);
  result.counters.l2_read_sectors += take();
  result.counters.l2_write_sectors += take();
}

std::uint64_t log_entries(const WorkCounts& counts) { return last_of(counts, kEntries); }

std::uint64_t issue_slots(const WorkCounts& counts) { return last_of(counts, kSlots); }

std::uint64_t log_sectors(const WorkCounts& counts) {
  return last_of(counts, kReadSectors) + last_of(counts, kWriteSectors);
}

}  // namespace simgpu
