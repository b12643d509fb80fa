#pragma once

#include <cstdint>
#include <span>

#include "simgpu/isa/instruction_info.h"
#include "simgpu/report.h"

/// Registers that the assembler keeps in local memory, because threads have no more of them. PTX
/// says nothing of it: the machine code does.
namespace simgpu {

/// What the machine does beside an instruction each time that a warp executes it.
struct InstructionSpills {
  double loads = 0, stores = 0;            ///< requests
  double load_words = 0, store_words = 0;  ///< of 4 bytes, of each thread
};

/// Adds the requests, sectors and lines of spills to those of local memory.
/// @param spills      of each instruction; empty: there are none
/// @param frame_bytes of a thread's local memory that hold spilled registers
void add_spills(std::span<const InstructionSpills> spills, std::span<const ExecutionCount> executed,
                unsigned frame_bytes, std::uint64_t warps, KernelCounters& counters);

}  // namespace simgpu
