#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simgpu/exec/opcode_tests/form.h"

namespace simgpu::opcode_tests {

/// Operands of `lanes` lanes for sources of these types: first every pair of special values, then
/// random ones. Deterministic.
std::vector<Lane> operands_for(const std::vector<std::string>& types, std::uint32_t lanes);

}  // namespace simgpu::opcode_tests
