#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/isa/instruction_set.h"
#include "simgpu/isa/lowered.h"
#include "simgpu/lower/control_flow.h"
#include "simgpu/lower/pending.h"

namespace simgpu {

/// By instruction, whether it is a plain load that only guesses what an atomic of its own thread
/// will find in the same place: the value is what a compare-and-swap there expects
/// (`old = *p; do … old = atomicCAS(p, assumed = old, …)`), or decides whether the atomic is worth
/// its time (`if (x < *p) atomicMin(p, x)`) and nothing else. The atomic sees what is really there,
/// so that a value that another thread has changed in the meantime does no harm.
///
/// The place is the same where both addresses are the same sum of registers and literals, however
/// nvcc computes it.
/// @param block_of,post_dominators as in KernelBuilder::Layout
std::vector<char> find_guesses(const std::vector<Pending>& code, std::size_t registers,
                               const std::vector<LoweredKernel::Constant>& constants,
                               const ControlFlow& flow, const std::vector<std::uint32_t>& block_of,
                               const std::vector<std::uint32_t>& post_dominators,
                               const Primitives& primitives);

}  // namespace simgpu
