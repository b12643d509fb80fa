#pragma once

#include <vector>

#include "simgpu/counters/access_counts.h"
#include "simgpu/counters/first_access.h"
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
  LoadCountsByPc loads;                ///< but for what became of them in L2
  std::vector<AccessCounts> accesses;  ///< by memory instruction: LoweredKernel::memory_sites
  FirstAccesses first;                 ///< likewise
  BlockWeights weights;

  explicit CounterSums(const LoweredKernel& kernel)
      : blocks(kernel.code.size()),
        guarded_threads(kernel.code.size()),
        accesses(kernel.memory_sites.size()) {}
  void add(BlockRunner& runner);
};

/// How often each instruction ran: an instruction runs as often as its basic block is entered, a
/// guarded one in fewer threads. Zero for instructions that lowering added.
std::vector<ExecutionCount> by_instruction(const LoweredKernel& kernel, const CounterSums& sums);

/// What each instruction asked of memory.
AccessCountsByPc accesses_by_instruction(const LoweredKernel& kernel, const CounterSums& sums);

/// Those of memory instructions, by instruction.
FirstAccesses first_by_instruction(const LoweredKernel& kernel, const FirstAccesses& first);

/// Everything but global memory traffic. Instructions that the assembler folds away are not
/// counted.
void add_counters(const LoweredKernel& kernel, const std::vector<ExecutionCount>& executed,
                  const MemoryCounts& memory, KernelCounters& counters);

}  // namespace simgpu
