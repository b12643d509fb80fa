#include "simgpu/device/instruction_costs.h"

#include <algorithm>

#include "simgpu/model/instruction_demands.h"

namespace simgpu {
namespace {

/// What instructions cost beside their time.
class CountersOf {
 public:
  CountersOf(const model::Work& work, const AccessCountsByPc& accesses)
      : work_(work),
        accesses_(accesses),
        l2_(model::l2_sectors(work, accesses)),
        dram_(model::dram_bytes(work, accesses)) {}

  LineCounters of(std::size_t i) const {
    const InstructionInfo& instruction = work_.program[i];
    const ExecutionCount& executed = work_.executed[i];
    const AccessCounts accesses = i < accesses_.size() ? accesses_[i] : AccessCounts{};
    LineCounters counters{.requests = accesses.requests,
                          .sectors = accesses.sectors,
                          .asked_bytes = accesses.bytes,
                          .l1_hit_sectors = accesses.l1_hits,
                          .l2_sectors = whole(l2_[i]),
                          .dram_bytes = whole(dram_.read[i] + dram_.written[i]),
                          .bank_requests = accesses.bank_requests,
                          .wavefronts = accesses.wavefronts,
                          .bank_conflicts = accesses.conflicts};
    if (!instruction.issues) return counters;
    counters.warp_instructions = executed.warps;
    counters.thread_instructions = executed.threads;
    if (instruction.cls == InstructionClass::barrier) counters.barriers = executed.warps;
    return counters;
  }

 private:
  static std::uint64_t whole(double count) { return static_cast<std::uint64_t>(count + 0.5); }

  const model::Work& work_;
  const AccessCountsByPc& accesses_;
  const model::Demands l2_;
  const model::DramBytes dram_;
};

}  // namespace

std::vector<InstructionCost> instruction_costs(const model::Work& work,
                                               const PredictedTime& predicted, double busy_us,
                                               const AccessCountsByPc& accesses) {
  const std::vector<InstructionTime> times = instruction_times(work, predicted, busy_us, accesses);
  const CountersOf counters(work, accesses);
  std::vector<InstructionCost> costs(work.program.size());
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (work.executed[i].warps == 0) continue;
    if (times[i].time_us == 0 && !work.program[i].issues) continue;
    costs[i] = {times[i], counters.of(i)};
  }
  return costs;
}

std::vector<InstructionCost> costs_by_ptx(std::span<const InstructionCost> costs,
                                          std::span<const std::uint32_t> ptx_of,
                                          std::size_t instructions) {
  std::vector<InstructionCost> sums(instructions);
  std::vector<double> largest(instructions);
  for (std::size_t i = 0; i < std::min(costs.size(), ptx_of.size()); ++i) {
    if (ptx_of[i] >= instructions) continue;
    InstructionCost& sum = sums[ptx_of[i]];
    sum.time.time_us += costs[i].time.time_us;
    sum.counters += costs[i].counters;
    if (costs[i].time.time_us < largest[ptx_of[i]]) continue;
    largest[ptx_of[i]] = costs[i].time.time_us;
    sum.time.limiter = costs[i].time.limiter;
  }
  return sums;
}

}  // namespace simgpu
