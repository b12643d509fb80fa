#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/isa/instruction_set.h"
#include "simgpu/isa/lowered.h"
#include "simgpu/lower/pending.h"

namespace simgpu {

/// By instruction: the array in shared memory from whose address the one that it accesses is
/// computed (KernelInfo::shared_arrays, plus one), 0 where that is none or not known.
///
/// nvcc names each array by its own symbol, and adds to that what an index makes, so that an
/// address keeps the array from which it came through copies and sums. It is not known any more
/// where the program chooses between two arrays, computes with both (`b - a`), or does anything
/// else to an address than to add to it, and behind memory, shuffles and calls.
std::vector<std::uint32_t> find_array_origins(const std::vector<Pending>& code,
                                              std::size_t registers,
                                              const std::vector<LoweredKernel::Constant>& constants,
                                              const Primitives& primitives);

}  // namespace simgpu
