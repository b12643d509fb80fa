#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/lower/pending.h"

namespace simgpu {

/// By register: whether the assembler knows its value, because a single instruction writes it and
/// computes it from literals, addresses of variables and other known values. What is loaded from
/// such an address of a kernel's parameters is an operand of the instructions that use it; with any
/// other address it takes a load.
std::vector<char> find_known_values(const std::vector<Pending>& code, std::size_t registers);

}  // namespace simgpu
