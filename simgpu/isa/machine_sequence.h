#pragma once

#include <cstdint>
#include <string_view>

namespace simgpu {

/// The machine instructions that ptxas makes of one PTX instruction, by the pipe that they occupy,
/// on the way that ordinary operands take. Empty for an instruction that becomes one.
struct MachineSequence {
  std::uint8_t integer = 0;
  std::uint8_t fp32 = 0;
  std::uint8_t fp64 = 0;
  std::uint8_t special = 0;
  std::uint8_t conversion = 0;
  std::uint8_t exchange = 0;  ///< between the lanes of a warp
  std::uint8_t rest = 0;      ///< moves, branches, calls: issue slots alone

  /// Of the longest chain from the operands to the result: instructions of the latency of integer
  /// and fp32 arithmetic, of special functions and conversions, and of double precision.
  std::uint8_t chained_simple = 0, chained_special = 0, chained_fp64 = 0;

  /// Odd operands go another way, so that what follows waits until it is known which they are.
  bool branches = false;

  constexpr unsigned instructions() const {
    return 0U + integer + fp32 + fp64 + special + conversion + exchange + rest;
  }
  constexpr bool empty() const { return instructions() == 0; }
  bool operator==(const MachineSequence&) const = default;
};

/// What ptxas makes of an opcode that is several instructions of the machine.
struct SequenceRow {
  std::string_view spelling;  ///< a pattern, as in OpcodeRow
  MachineSequence sequence;
};

}  // namespace simgpu
