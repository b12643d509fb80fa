#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "simgpu/exec/undefined_values.h"
#include "simgpu/exec/warp.h"
#include "simgpu/isa/instruction_info.h"

namespace simgpu {

/// Whether an instruction does nothing but compute results from registers, so that it may be tried.
bool only_computes(const InstructionInfo& info);

/// Whether it only brings bits to other places, or drops some.
bool moves_bits(const InstructionInfo& info, std::string_view spelling);

/// All bits of a value in a slot.
std::uint64_t all_bits(const SlotRange& slot);

/// Which bits of an instruction's results depend on undefined bits of its operands. The instruction
/// is executed several times for `lanes`, with other values in these bits; what comes out
/// differently depends on them. So no instruction needs rules of its own: a `selp` depends on the
/// chosen operand, an `and` with a mask on the bits that the mask leaves, and a product with 0 on
/// both factors, of which the other may be no number. Registers are left as they were.
class ResultTrials {
 public:
  /// What finding out takes, in instructions (WorkBudget).
  static constexpr std::uint64_t kWork = 64;

  ResultTrials(const LoweredKernel& kernel, const UndefinedValues& values)
      : kernel_(kernel), values_(values) {}

  /// @param operands registers with undefined bits that `in` reads
  /// @returns by register that it writes, in order
  std::vector<LaneBits> run(const Lowered* in, Warp& warp, std::uint32_t lanes,
                            std::span<const std::uint32_t> operands) const;

 private:
  const LoweredKernel& kernel_;
  const UndefinedValues& values_;
};

}  // namespace simgpu
