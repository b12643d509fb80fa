#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/counters/access_counts.h"
#include "simgpu/counters/first_access.h"
#include "simgpu/counters/load_counts.h"
#include "simgpu/isa/instruction_info.h"
#include "simgpu/isa/issue_control.h"
#include "simgpu/kernel_counters.h"
#include "simgpu/sass/alignment.h"
#include "simgpu/sass/control_flow.h"

namespace simgpu {

/// What a launch did, by its PTX; each list by instruction.
struct PtxLaunch {
  std::span<const InstructionInfo> program;
  std::span<const ExecutionCount> executed;
  const LoadCountsByPc& loads;
  const AccessCountsByPc& accesses;
  const FirstAccesses& first_accesses;
  const KernelCounters& counters;
};

/// The same in machine code: what the time model takes in place of it. Each list by instruction of
/// the machine, block after block.
struct MachineWork {
  std::vector<InstructionInfo> program;
  std::vector<ExecutionCount> executed;
  std::vector<IssueControl> control;
  /// The instruction of PTX that it was made of, or that the one before it was made of: an index.
  std::vector<std::uint32_t> ptx_of;
  LoadCountsByPc loads;
  AccessCountsByPc accesses;
  /// Those of the launch, with requests for shared and global memory as they are issued.
  KernelCounters counters;
};

/// @param alignment one that is to be relied on
MachineWork machine_work(const sass::CutCode& code, const sass::Alignment& alignment,
                         const PtxLaunch& launch);

}  // namespace simgpu
