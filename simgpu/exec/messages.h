#pragma once

#include <cstdint>
#include <string>

#include "simgpu/checkers/access.h"
#include "simgpu/finding.h"
#include "simgpu/isa/lowered.h"
#include "simgpu/memory/device_memory.h"

/// Findings in words: what the engine and the checkers know, told in terms of the program's source.
namespace simgpu {

/// File, line and column of an instruction; the thread is left to the caller.
AccessSite site_of(const KernelInfo& kernel, std::uint32_t index);

/// A read of unwritten shared memory by a kernel of Thrust or CUB, which is the library's own
/// affair: CUB's merge sort reads an element behind the last one, and drops what it compared.
bool is_of_a_library(const RawFinding& raw, const KernelInfo& kernel);

/// A load of one block that only guesses what its own atomic will find (lower/guesses.h), beside an
/// atomic of another block. (Within a block these are not findings in the first place.)
bool is_only_guessed(const RawFinding& raw, const KernelInfo& kernel);

/// A checker's finding as the report has it.
Finding to_finding(const RawFinding& raw, const LoweredKernel& kernel, const DeviceMemory& memory,
                   const Dim3& grid, const Dim3& block, std::uint32_t shared_bytes);

}  // namespace simgpu
