#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "simgpu/exec/warp.h"
#include "simgpu/isa/lowered.h"

namespace simgpu {

/// Where the bytes of an instruction's result come from that moves bits: mov and its parts, shifts,
/// masks, permutations, integers made wider or narrower.
struct ByteMoves {
  static constexpr unsigned kMostOperands = 4, kMostBytes = 8;

  struct Byte {
    bool is_copy = false;  ///< it is that very byte
    std::uint8_t operand = 0, byte = 0;
    std::uint32_t depends = 0;  ///< else: bit 8 i + k for byte k of operand i
  };
  std::array<Byte, kMostBytes> result;
  bool is_plain_copy = false;  ///< all bytes of the only operand, at their places
};

/// Executes `in` for values made up, and looks what changes in the result with each byte of its
/// operands: no such instruction needs a rule of its own, and literals (a shift's distance, a mask,
/// a selector) count as what they are.
/// @param operands, result registers of up to 8 bytes, no predicates
/// @param warp that is about to execute it; it is left as it is
ByteMoves find_byte_moves(const LoweredKernel& kernel, const Lowered& in, const Warp& warp,
                          std::span<const std::uint32_t> operands, std::uint32_t result);

}  // namespace simgpu
