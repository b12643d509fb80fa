#include "simgpu/model/time_model.h"

#include <algorithm>
#include <optional>

#include "simgpu/model/busy_time.h"
#include "simgpu/model/latency.h"
#include "simgpu/model/limiters.h"
#include "simgpu/model/sm_walk.h"
#include "simgpu/model/warp_path.h"
#include "simgpu/model/work.h"

namespace simgpu {
namespace {

double uneven_warps(model::Work work, double warp_cycles, double latency) {
  work.balance = {};
  const double even = model::latency_time(work, {warp_cycles, warp_cycles});
  return even > 0 ? std::max(1.0, latency / even) : 1;
}

double uneven_sms(model::Work work, double throughput) {
  work.balance = {};
  const double even = model::largest_of(model::limiters(work));
  return even > 0 ? std::max(1.0, throughput / even) : 1;
}

/// Machine code never took less than 0.48 of what its PTX would: docs/design/machine-code.md. What
/// seems to take less is code of which nobody knows how often it is executed.
constexpr double kLeastOfPtx = 0.45;

/// The ways of warps are known by their PTX. Machine code takes them in other cycles: in the same
/// proportion for all of them, which is the mean warp's.
model::BlockCycles cycles_of_block(const model::Work& work, double warp_cycles) {
  if (work.by_ptx == nullptr) return model::block_cycles(work, warp_cycles);
  const double by_ptx = model::warp_cycles(*work.by_ptx);
  const model::BlockCycles block = model::block_cycles(*work.by_ptx, by_ptx);
  if (by_ptx <= 0 || warp_cycles <= 0) return block;
  const double ratio = std::max(kLeastOfPtx, warp_cycles / by_ptx);
  return {block.mean * ratio, block.longest * ratio, std::min(1.0, block.stalled / ratio)};
}

/// Cycles of the busiest SM, whose blocks are walked side by side, by machine code. Where warps go
/// different ways a block takes as much longer as its longest warp alone.
std::optional<double> walked_cycles(const model::Work& work, double warp_cycles,
                                    const model::BlockCycles& block) {
  const std::uint64_t blocks = work.blocks_of_busiest_sm();
  const std::uint64_t resident = std::min(work.resident_blocks, blocks);
  const std::uint64_t rounds = blocks / resident, rest = blocks % resident;
  const model::SmWalks walks(work);
  const std::optional<double> round = walks.cycles_of_blocks(resident);
  const std::optional<double> last = rest == 0 ? std::optional(0.0) : walks.cycles_of_blocks(rest);
  if (!round || !last) return std::nullopt;
  const auto all_rounds = static_cast<double>(rounds + (rest == 0 ? 0 : 1));
  const double longer = std::max(0.0, block.mean - warp_cycles);
  const double cycles = static_cast<double>(rounds) * *round + *last + all_rounds * longer +
                        (all_rounds - 1) * model::block_turnover(work);
  return std::max({cycles, block.longest, model::cycles_of_starts(work)});
}

bool lies_beside_sms(Limiter limiter) {
  return limiter == Limiter::l2 || limiter == Limiter::dram || limiter == Limiter::atomics;
}

/// The time by machine code. What the SMs have in common holds up what they do by themselves; that
/// their own units keep warps waiting is in their cycles.
std::optional<double> walked_time(const model::Work& work, const LimiterTimes& terms,
                                  double warp_cycles, const model::BlockCycles& block) {
  if (work.control.empty()) return std::nullopt;
  const std::optional<double> cycles = walked_cycles(work, warp_cycles, block);
  if (!cycles) return std::nullopt;
  LimiterTimes beside = terms, within = terms;
  for (auto& [term, time] : beside) time = lies_beside_sms(term) ? time : 0;
  for (auto& [term, time] : within) time = lies_beside_sms(term) ? 0 : time;
  const double together = model::busy_time(work, beside, 0, work.microseconds(*cycles)).total();
  return std::max({model::largest_of(within), together, terms.at(Limiter::latency)});
}

/// What all of it takes, and what sets that.
void tell_total(PredictedTime& predicted) {
  TimeBreakdown& time = predicted.time;
  const double busy = predicted.busy.total();
  time.total_us = busy + time.launch_us;
  time.limiter = Limiter::launch;
  if (busy > time.launch_us) {
    time.limiter = std::ranges::max_element(time.terms, {}, [](const auto& term) {
                     return term.second;
                   })->first;
  }
}

/// Not less than that part of the time by PTX.
void hold_to_ptx(const model::Work& by_ptx, PredictedTime& predicted) {
  const double least = kLeastOfPtx * predict(by_ptx).busy.total();
  if (predicted.busy.total() < least) predicted.busy = predicted.busy.scaled_to(least);
}

}  // namespace

TimeBreakdown predict_time(const KernelCounters& counters, const LaunchShape& shape,
                           const ExecutedProgram& program, const gpu_spec::GpuSpec& gpu) {
  return predict(model::gather(counters, shape, program, gpu)).time;
}

PredictedTime predict(const model::Work& work) {
  const gpu_spec::GpuSpec& gpu = work.gpu;
  PredictedTime predicted;
  TimeBreakdown& time = predicted.time;
  time.terms = model::limiters(work);
  const double throughput = model::largest_of(time.terms);
  const double cycles = model::warp_cycles(work);
  const model::BlockCycles block = cycles_of_block(work, cycles);
  const double latency = model::latency_time(work, block);
  const double serial = model::serial_part(work, throughput, block.stalled);
  time.terms[Limiter::latency] = latency;
  time.uneven_warps = uneven_warps(work, cycles, latency);
  time.uneven_sms = uneven_sms(work, throughput);
  time.wave_quantisation = work.busiest_share(0) * gpu.sm_count;
  time.launch_us = gpu.launch_overhead_us;
  predicted.busy = model::busy_time(work, time.terms, serial, latency);
  if (const std::optional<double> walked = walked_time(work, time.terms, cycles, block)) {
    predicted.busy = predicted.busy.scaled_to(*walked);
  }
  if (work.by_ptx != nullptr) hold_to_ptx(*work.by_ptx, predicted);
  predicted.waits_for_longest_block =
      block.longest > block.mean * static_cast<double>(model::rounds(work));
  tell_total(predicted);
  return predicted;
}

PredictedTime slowed_down(PredictedTime predicted, double factor) {
  predicted.busy = predicted.busy.scaled_to(factor * predicted.busy.total());
  tell_total(predicted);
  return predicted;
}

double wave_quantisation(const LaunchShape& shape, const gpu_spec::GpuSpec& gpu) {
  const model::Work blocks = model::gather({}, shape, {}, gpu);
  return blocks.busiest_share(0) * gpu.sm_count;
}

double device_time_us(const KernelCounters& counters, const LaunchShape& shape,
                      const ExecutedProgram& program, const gpu_spec::GpuSpec& gpu) {
  model::Work work = model::gather(counters, shape, program, gpu);
  work.is_spread = true;
  const LimiterTimes terms = model::limiters(work);
  const double throughput = model::largest_of(terms);
  const double held = static_cast<double>(work.resident_blocks) * gpu.sm_count;
  const double rounds = static_cast<double>(work.blocks) / held;
  const double cycles = model::warp_cycles(work);
  const double starts =
      gpu.cycles_per_block * static_cast<double>(work.blocks) / static_cast<double>(gpu.sm_count);
  const model::BlockCycles block = model::block_cycles(work, cycles);
  const double latency = work.microseconds(std::max(block.mean * rounds, starts));
  const double serial = model::serial_part(work, throughput, block.stalled);
  return model::busy_time(work, terms, serial, latency).total();
}

}  // namespace simgpu
