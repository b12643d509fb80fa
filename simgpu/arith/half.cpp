#include "simgpu/arith/half.h"

namespace simgpu::arith {
namespace {

template <class F>
std::uint16_t narrow(double x, Round mode) {
  if (std::isnan(x)) return 0x7fff;
  if (std::isinf(x)) {
    return static_cast<std::uint16_t>((std::signbit(x) ? F::kSign : 0) | F::kInfinity);
  }
  return round_to<F>(exact_value(x), mode);
}

}  // namespace

std::uint16_t to_f16(double x, Round mode) { return narrow<Binary16>(x, mode); }
std::uint16_t to_bf16(double x, Round mode) { return narrow<BrainFloat16>(x, mode); }

}  // namespace simgpu::arith
