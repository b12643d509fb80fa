#pragma once

#include <vector>

#include "simgpu/counters/load_counts.h"
#include "simgpu/exec/block_weights.h"
#include "simgpu/exec/memory_counts.h"
#include "simgpu/isa/lowered.h"
#include "simgpu/kernel_counters.h"

namespace simgpu {

class BlockRunner;

/// Counts of all workers of a launch, added up.
struct CounterSums {
  std::vector<ExecutionCount> blocks;          ///< by first instruction of a basic block
  std::vector<std::uint64_t> guarded_threads;  ///< by guarded instruction
  MemoryCounts memory;
  LoadCountsByPc loads;  ///< but for what became of them in L2
  BlockWeights weights;

  explicit CounterSums(std::size_t instructions)
      : blocks(instructions), guarded_threads(instructions) {}
  void add(BlockRunner& runner);
};

/// How often each instruction ran: an instruction runs as often as its basic block is entered, a
/// guarded one in fewer threads. Zero for instructions that lowering added.
std::vector<ExecutionCount> by_instruction(const LoweredKernel& kernel, const CounterSums& sums);

/// Everything but global memory traffic. Instructions that the assembler folds away are not
/// counted.
void add_counters(const LoweredKernel& kernel, const std::vector<ExecutionCount>& executed,
                  const MemoryCounts& memory, KernelCounters& counters);

}  // namespace simgpu
