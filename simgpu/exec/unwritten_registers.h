#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/exec/undefined_values.h"
#include "simgpu/exec/warp.h"
#include "simgpu/isa/lowered.h"

/// Registers that nothing has written, as those of `float sum;` are until something is assigned to
/// it. They are the ones that some way through the kernel reads before a write, which lowering
/// knows; of other kernels nothing is followed.
namespace simgpu {

/// The kernel begins for `lanes` of a warp.
void begin_unwritten(const LoweredKernel& kernel, UndefinedValues& values, std::uint32_t lanes);

/// Behind a control instruction of the kernel itself: registers of `lanes` that are written before
/// they are read again need not be followed.
void forget_dead_registers(const LoweredKernel& kernel, std::uint32_t index,
                           UndefinedValues& values, std::uint32_t lanes);

/// One of the values that a store stores.
struct StoredValue {
  static constexpr std::uint32_t kLiteral = ~0U;
  std::uint32_t reg = kLiteral;
  std::uint32_t offset = 0, bytes = 0;  ///< where it goes, from the store's address

  /// Of a register, the bits that are stored.
  std::uint64_t bits() const {
    return bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
  }
};
std::vector<StoredValue> stored_values(const LoweredKernel& kernel, const Lowered& in,
                                       const Warp& warp);

/// Whether a store of `value`, which was only moved, belongs to the copy of something larger, of
/// which the lane has given other parts a value: a struct or vector that is not all in use.
bool copies_a_part(const LoweredKernel& kernel, std::uint32_t index, const UndefinedValues& values,
                   const std::vector<StoredValue>& stored, const StoredValue& value, unsigned lane);

}  // namespace simgpu
