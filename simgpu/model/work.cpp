#include "simgpu/model/work.h"

#include <algorithm>
#include <array>

namespace simgpu::model {

std::uint64_t Work::blocks_of_busiest_sm() const {
  const auto sms = static_cast<std::uint64_t>(gpu.sm_count);
  return (blocks + sms - 1) / sms;
}

std::uint64_t Work::busy_sms() const {
  return std::min(blocks, static_cast<std::uint64_t>(gpu.sm_count));
}

double Work::busiest_share(double busiest) const {
  if (is_spread) return 1.0 / gpu.sm_count;
  const double even = static_cast<double>(blocks_of_busiest_sm()) / static_cast<double>(blocks);
  return std::min(1.0, std::max(even, busiest));
}

double Work::pipe_share(InstructionClass cls) const {
  return busiest_share(balance.busiest_pipes ? balance.busiest_pipes->at(pipe_of(cls))
                                             : balance.busiest_instructions);
}

/// A warp stays with one scheduler, every fourth warp with the same. Blocks that are resident
/// together begin where the one before them ends, so that blocks of an odd number of warps even out
/// what those of two and four do not.
double Work::uneven_schedulers(const std::array<double, 4>& of, double busiest) const {
  constexpr std::uint64_t kSchedulers = 4;
  if (gpu.schedulers_per_sm != kSchedulers) return 1;
  const std::uint64_t resident =
      is_spread ? resident_blocks : std::min(resident_blocks, blocks_of_busiest_sm());
  if (resident == 1) return kSchedulers * busiest;
  const double active = static_cast<double>(std::min(resident * warps_per_block, kSchedulers));
  if (warps_per_block % 4 == 0) return kSchedulers * *std::ranges::max_element(of);
  if (warps_per_block % 2 == 0) return 2 * std::max(of[0] + of[2], of[1] + of[3]);
  return kSchedulers / active;
}

double Work::uneven_schedulers() const {
  return uneven_schedulers(balance.by_scheduler, balance.busiest_scheduler);
}

double Work::uneven_schedulers(const Pipe& cycles) const {
  if (!balance.schedulers) return uneven_schedulers();
  std::array<double, 4> shares{};
  double busiest = 0, all = 0;
  for (std::size_t i = 0; i < std::min(program.size(), balance.schedulers->size()); ++i) {
    const double of_one = cycles(program[i]);
    if (of_one == 0) continue;
    const SchedulerCounts& counts = (*balance.schedulers)[i];
    busiest += of_one * static_cast<double>(counts.busiest);
    for (std::size_t k = 0; k < shares.size(); ++k) {
      const double own = of_one * static_cast<double>(counts.by_scheduler[k]);
      shares[k] += own;
      all += own;
    }
  }
  if (all == 0) return 1;
  for (double& share : shares) share /= all;
  return uneven_schedulers(shares, std::min(1.0, busiest / all));
}

double Work::warp_instructions(InstructionClass cls) const {
  double sum = 0;
  for (std::size_t i = 0; i < program.size(); ++i) {
    sum += on_pipe(program[i], cls) * static_cast<double>(executed[i].warps);
  }
  return sum;
}

double Work::issued() const {
  double sum = 0;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const InstructionSpills spills = spills_of(i);
    sum += (program[i].issue_slots() + spills.loads + spills.stores) *
           static_cast<double>(executed[i].warps);
  }
  return sum;
}

Work gather(const KernelCounters& counters, const LaunchShape& shape,
            const ExecutedProgram& program, const gpu_spec::GpuSpec& gpu) {
  const std::size_t known = std::min(program.instructions.size(), program.executed.size());
  Work work{counters,
            program.instructions.first(known),
            program.executed.first(known),
            gpu,
            program.balance,
            program.spills,
            program.loads};
  work.blocks = std::max<std::uint64_t>(shape.grid.count(), 1);
  work.warps_per_block = (std::max<std::uint64_t>(shape.block.count(), 1) + 31) / 32;
  work.resident_blocks = std::max(occupancy(shape, gpu).blocks_per_sm, 1U);
  work.l1_bytes = static_cast<double>(
      l1_bytes_beside(shape, std::min(work.resident_blocks, work.blocks_of_busiest_sm()), gpu));
  return work;
}

}  // namespace simgpu::model
