#include "simgpu/model/load_uses.h"

#include <algorithm>

#include "simgpu/model/basic_blocks.h"

namespace simgpu::model {
namespace {

/// What is executed that often is executed each time.
constexpr double kEachTime = 0.99;

}  // namespace

LoadUses::LoadUses(const Work& work) : work_(work) {
  const std::size_t size = work.program.size();
  for (std::size_t first = 0; first < size;) {
    const std::size_t end = end_of_block(work.program, first);
    block_of_.resize(end, static_cast<std::uint32_t>(first));
    times_.resize(end, static_cast<double>(entries(work.executed, first, end)));
    first = end;
  }
}

AwaitedLoad LoadUses::result_of(std::size_t instruction) const {
  const InstructionClass cls = work_.program[instruction].cls;
  if (cls != InstructionClass::global_atomic && !loads_from_global(cls)) return {};
  return {static_cast<std::uint32_t>(instruction), far_shares(instruction, work_)};
}

double LoadUses::longer(AwaitedLoad& load, std::size_t reader) const {
  if (load.instruction == AwaitedLoad::kNone) return 0;
  if (load.reader == block_of_[reader]) return load.longer;
  const auto loaded = static_cast<double>(work_.executed[load.instruction].warps);
  const double part = loaded > 0 ? times_[reader] / loaded : 1;
  if (part >= kEachTime) {
    load = {};
    return 0;
  }
  const FarShares far{std::min(load.left.beyond_l1, part), std::min(load.left.from_dram, part)};
  load.left.beyond_l1 -= far.beyond_l1;
  load.left.from_dram -= far.from_dram;
  const double furthest =
      latency_of(load.instruction, work_, {far.beyond_l1 / part, far.from_dram / part});
  load.longer = std::max(0.0, furthest - latency_of(load.instruction, work_));
  load.reader = block_of_[reader];
  return load.longer;
}

}  // namespace simgpu::model
