#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/isa/lowered.h"
#include "simgpu/lower/pending.h"

namespace simgpu {

/// By register, the bytes from which something is computed: bit i for byte i. Storing a value, or
/// moving it, uses none of it; `and.b16 %rs2, %rs1, 255` only the lowest one. What is not known to
/// use less uses all. Bytes that nobody uses may be a struct's padding, which nobody writes.
std::vector<std::uint8_t> find_used_bytes(const std::vector<Pending>& code, std::size_t registers,
                                          const std::vector<LoweredKernel::Constant>& constants);

/// The same for what a load reads: bit i for byte i of the 1 to 16 that it accesses.
std::uint16_t used_of_access(const Pending& load, const std::vector<std::uint8_t>& used);

}  // namespace simgpu
