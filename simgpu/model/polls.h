#pragma once

#include <span>
#include <vector>

#include "simgpu/isa/instruction_info.h"
#include "simgpu/model/loop_nest.h"

namespace simgpu::model {

/// Loops in which warps wait for what others do to shared memory: they look at the same place in
/// each turn, and what they find decides where they go on. How many basic blocks such a loop has,
/// how often it looks, and what else it counts or stores does not matter. Each comes once, as the
/// innermost loop that its looks decide about. Where loops are too many to be looked into, each
/// basic block that looks stands for a wait of its own.
std::vector<Loop> find_polls(std::span<const InstructionInfo> program,
                             std::span<const ExecutionCount> executed);

}  // namespace simgpu::model
