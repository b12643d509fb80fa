#include "simgpu/exec/block_weights.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "simgpu/isa/lowered.h"

namespace simgpu {
namespace {

using Weight = BlockWeights::Weight;
/// What an SM does of each, whichever of its warps does it; beside its pipes' work.
constexpr std::uint64_t Weight::*kLoads[] = {&Weight::slots, &Weight::sectors, &Weight::wavefronts};
constexpr std::uint64_t Weight::*kWays[] = {&Weight::longest_way, &Weight::longest_own_time,
                                            &Weight::longest_time};

double over(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// To each instruction what its basic block has; to those that lowering has made, nothing.
template <class Count>
std::vector<Count> by_instruction(const LoweredKernel& kernel,
                                  const std::vector<Count>& by_basic_block) {
  std::vector<Count> all(kernel.code.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!kernel.hidden[i]) all[i] = by_basic_block[kernel.code[i].basic_block];
  }
  return all;
}

std::shared_ptr<const WarpWays> ways_of(const LoweredKernel& kernel, const WarpRoles& roles) {
  const std::vector<WarpRole> known = roles.roles();
  auto all = std::make_shared<WarpWays>();
  for (const WarpRole& role : known) {
    std::vector<ExecutionCount> entered;
    for (const std::uint64_t times : role.entered) entered.push_back({times, kWarpSize * times});
    all->ways.push_back({by_instruction(kernel, entered), role.loads, role.slept_ns, role.blocks});
  }
  for (const WarpRoles::Mix& mix : roles.mixes()) {
    WarpWays::Mix& ways = all->mixes.emplace_back();
    ways.blocks = mix.blocks;
    for (const std::uint64_t key : mix.keys) {
      const auto role = std::ranges::find(known, key, &WarpRole::key);
      ways.ways.push_back(static_cast<std::size_t>(role - known.begin()));
    }
  }
  return all;
}

}  // namespace

void Weight::add_loads(const Weight& other, std::uint64_t times) {
  for (const auto load : kLoads) this->*load += times * other.*load;
  for (std::size_t i = 0; i < pipes.size(); ++i) pipes[i] += times * other.pipes[i];
}

void Weight::raise_loads(const Weight& other) {
  for (const auto load : kLoads) this->*load = std::max(this->*load, other.*load);
  for (std::size_t i = 0; i < pipes.size(); ++i) pipes[i] = std::max(pipes[i], other.pipes[i]);
}

void BlockWeights::add(const Weight& block, std::uint64_t ways_of_block,
                       std::uint64_t warps_of_block) {
  add_times({block, block, ways_of_block, warps_of_block, 1, {}, {}}, 1);
}

void BlockWeights::add_times(const BlockWeights& other, std::uint64_t times) {
  all.add_loads(other.all, times);
  heaviest.raise_loads(other.heaviest);
  for (const auto way : kWays) {
    all.*way += times * other.all.*way;
    heaviest.*way = std::max(heaviest.*way, other.heaviest.*way);
  }
  for (std::size_t i = 0; i < all.by_scheduler.size(); ++i) {
    all.by_scheduler[i] += times * other.all.by_scheduler[i];
  }
  all.busiest_scheduler += times * other.all.busiest_scheduler;
  ways += times * other.ways;
  warps += times * other.warps;
  blocks += times * other.blocks;
  roles.add_times(other.roles, times);
  entered.resize(std::max(entered.size(), other.entered.size()));
  for (std::size_t i = 0; i < other.entered.size(); ++i) {
    const SchedulerCounts& from = other.entered[i];
    for (std::size_t k = 0; k < from.by_scheduler.size(); ++k) {
      entered[i].by_scheduler[k] += times * from.by_scheduler[k];
    }
    entered[i].busiest += times * from.busiest;
  }
}

void BlockWeights::add_warps(const BlockOfWarps& block) {
  roles.add(block);
  entered.resize(block.entered.size() / block.warps);
  for (std::size_t i = 0; i < entered.size(); ++i) {
    std::array<std::uint64_t, 4> counts{};
    for (std::size_t warp = 0; warp < block.warps; ++warp) {
      counts[warp % counts.size()] += block.entered[i * block.warps + warp];
    }
    for (std::size_t k = 0; k < counts.size(); ++k) entered[i].by_scheduler[k] += counts[k];
    entered[i].busiest += *std::ranges::max_element(counts);
  }
}

void BlockWeights::add_sm(const Weight& sm) { heaviest.raise_loads(sm); }

WorkBalance balance_of(const LoweredKernel& kernel, const BlockWeights& ran, std::uint64_t slots,
                       std::uint64_t warps) {
  if (ran.blocks == 0 || ran.all.slots == 0) return {};
  // What ran stands for the whole launch by its issue slots.
  const double whole = static_cast<double>(slots) / static_cast<double>(ran.all.slots);
  const auto share = [&](std::uint64_t most, std::uint64_t all) {
    return over(static_cast<double>(most), whole * static_cast<double>(all));
  };
  WorkBalance balance;
  balance.busiest_instructions = share(ran.heaviest.slots, ran.all.slots);
  balance.busiest_sectors = share(ran.heaviest.sectors, ran.all.sectors);
  balance.busiest_wavefronts = share(ran.heaviest.wavefronts, ran.all.wavefronts);
  ByPipe<double>& pipes = balance.busiest_pipes.emplace();
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    pipes[i] = share(ran.heaviest.pipes[i], ran.all.pipes[i]);
  }
  const auto executed = static_cast<double>(ran.all.slots);
  for (std::size_t i = 0; i < balance.by_scheduler.size(); ++i) {
    balance.by_scheduler[i] = static_cast<double>(ran.all.by_scheduler[i]) / executed;
  }
  balance.busiest_scheduler = static_cast<double>(ran.all.busiest_scheduler) / executed;
  const double mean = static_cast<double>(ran.ways) / static_cast<double>(ran.warps);
  const double mean_of_blocks =
      static_cast<double>(ran.all.longest_way) / static_cast<double>(ran.blocks);
  balance.longest_of_block = std::max(1.0, mean_of_blocks / mean);
  balance.kept_waiting = std::max(1.0, over(static_cast<double>(ran.all.longest_time),
                                            static_cast<double>(ran.all.longest_own_time)));
  const double blocks =
      static_cast<double>(warps) * static_cast<double>(ran.blocks) / static_cast<double>(ran.warps);
  const double mean_of_launch = whole * static_cast<double>(ran.all.longest_time) / blocks;
  balance.longest =
      std::max(1.0, over(static_cast<double>(ran.heaviest.longest_time), mean_of_launch));
  balance.ways = ways_of(kernel, ran.roles);
  balance.schedulers =
      std::make_shared<const std::vector<SchedulerCounts>>(by_instruction(kernel, ran.entered));
  return balance;
}

}  // namespace simgpu
