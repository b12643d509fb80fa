#include "simgpu/exec/counter_sums.h"

#include <algorithm>

#include "simgpu/exec/block_runner.h"

namespace simgpu {
namespace {

std::string flop_name(const InstructionInfo& info) {
  std::string name;
  switch (info.flop_type) {
    case ptx::Type::f16:
    case ptx::Type::f16x2:
      name = "fp16";
      break;
    case ptx::Type::bf16:
    case ptx::Type::bf16x2:
      name = "bf16";
      break;
    case ptx::Type::tf32:
      name = "tf32";
      break;
    case ptx::Type::s8:
      name = "int8";
      break;
    case ptx::Type::f64:
      name = "fp64";
      break;
    default:
      name = "fp32";
      break;
  }
  return info.cls == InstructionClass::tensor ? name + "_tensor" : name;
}

}  // namespace

void CounterSums::add(BlockRunner& runner) {
  BlockCounts& counts = runner.counts();
  const std::vector<ExecutionCount>& executed = counts.executed();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].warps += executed[i].warps;
    blocks[i].threads += executed[i].threads;
    guarded_threads[i] += counts.guarded_threads()[i];
  }
  memory += runner.block().counted;
  add_loads(loads, runner.block().traffic.loads());
  weights.add_times(counts.weights(), 1);
  keep_first(first, runner.block().sites.first());
  const std::vector<AccessCounts>& of_sites = runner.block().sites.counts();
  const AccessCountsByPc& global = runner.block().traffic.accesses();
  const std::vector<std::uint32_t>& sites = runner.block().launch.kernel.memory_sites;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    accesses[i] += of_sites[i];
    if (sites[i] < global.size()) accesses[i] += global[sites[i]];
  }
}

FirstAccesses first_by_instruction(const LoweredKernel& kernel, const FirstAccesses& first) {
  FirstAccesses by_pc;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!first[i]) continue;
    by_pc.resize(std::max<std::size_t>(by_pc.size(), kernel.memory_sites[i] + 1));
    by_pc[kernel.memory_sites[i]] = first[i];
  }
  return by_pc;
}

AccessCountsByPc accesses_by_instruction(const LoweredKernel& kernel, const CounterSums& sums) {
  AccessCountsByPc accesses;
  for (std::size_t i = 0; i < kernel.memory_sites.size(); ++i) {
    if (sums.accesses[i] == AccessCounts{}) continue;
    accesses_of(accesses, kernel.memory_sites[i]) = sums.accesses[i];
  }
  return accesses;
}

std::vector<ExecutionCount> by_instruction(const LoweredKernel& kernel, const CounterSums& sums) {
  std::vector<ExecutionCount> executed(kernel.code.size());
  ExecutionCount block;
  for (std::size_t i = 0; i < executed.size(); ++i) {
    if (kernel.info.instructions[i].starts_block) block = sums.blocks[i];
    if (kernel.hidden[i]) continue;
    executed[i] = block;
    const Lowered& lowered = kernel.code[i];
    const bool guarded = lowered.guarded != nullptr && lowered.guarded != lowered.run;
    if (guarded) executed[i].threads = sums.guarded_threads[i];
  }
  return executed;
}

void add_counters(const LoweredKernel& kernel, const std::vector<ExecutionCount>& executed,
                  const MemoryCounts& memory, KernelCounters& counters) {
  for (std::size_t i = 0; i < executed.size(); ++i) {
    const InstructionInfo& info = kernel.info.instructions[i];
    const ExecutionCount& count = executed[i];
    if (!info.issues || count.warps == 0) continue;
    counters.warp_instructions += count.warps;
    counters.thread_instructions += count.threads;
    counters.instructions_by_class[name_of(info.cls)] += count.warps;
    const std::uint64_t flops =
        info.flops_per_thread * count.threads + info.flops_per_warp * count.warps;
    if (flops != 0) counters.flops[flop_name(info)] += flops;
    switch (kernel.float_kinds[i]) {
      case FloatKind::none:
        break;
      case FloatKind::add:
        counters.fadd += count.threads;
        break;
      case FloatKind::multiply:
        counters.fmul += count.threads;
        break;
      case FloatKind::fused:
        counters.ffma += count.threads;
        break;
    }
  }
  counters.shared_load_requests += memory.shared_load_requests;
  counters.shared_store_requests += memory.shared_store_requests;
  counters.shared_load_wavefronts += memory.shared_load_wavefronts;
  counters.shared_store_wavefronts += memory.shared_store_wavefronts;
  counters.shared_load_bank_conflicts += memory.shared_load_conflicts;
  counters.shared_store_bank_conflicts += memory.shared_store_conflicts;
  counters.shared_atomic_requests += memory.shared_atomic_requests;
  counters.shared_atomic_wavefronts += memory.shared_atomic_wavefronts;
  counters.local_load_requests += memory.local_load_requests;
  counters.local_store_requests += memory.local_store_requests;
  counters.local_load_sectors += memory.local_load_sectors;
  counters.local_store_sectors += memory.local_store_sectors;
  counters.local_tag_lookups += memory.local_tag_lookups;
  counters.local_touched_sectors += memory.local_touched_sectors;
  counters.generic_load_requests += memory.generic_load_requests;
  counters.generic_global_load_requests += memory.generic_global_load_requests;
  counters.constant_load_requests += memory.constant_load_requests;
  counters.constant_load_wavefronts += memory.constant_load_wavefronts;
  counters.branches += memory.branches;
  counters.divergent_branches += memory.divergent_branches;
  counters.barriers += memory.barriers;
  counters.slept_ns += memory.slept_ns;
}

}  // namespace simgpu
