#include <cmath>

#include "simgpu/arith/float32.h"
#include "simgpu/arith/float64.h"

namespace simgpu::arith {
namespace {

template <class Float>
Float rounded(const Exact& value, Round mode) {
  if constexpr (sizeof(Float) == 4) {
    return float_of(round_to<Binary32>(value, mode));
  } else {
    return double_of(round_to<Binary64>(value, mode));
  }
}

// Infinities and NaNs need no rounding: the host's own operation gives them.

template <class Float>
Float div(Float a, Float b, Round mode) {
  if (!std::isfinite(a) || !std::isfinite(b) || b == 0) return a / b;
  return rounded<Float>(exact_quotient(a, b), mode);
}

template <class Float>
Float sqrt(Float a, Round mode) {
  if (!std::isfinite(a) || a < 0) return std::sqrt(a);
  return rounded<Float>(exact_square_root(a), mode);
}

}  // namespace

float directed_div(float a, float b, Round mode) { return div(a, b, mode); }
float directed_sqrt(float a, Round mode) { return sqrt(a, mode); }

double directed_add(double a, double b, Round mode) {
  if (!std::isfinite(a) || !std::isfinite(b)) return a + b;
  return rounded<double>(exact_sum(a, b, mode), mode);
}
double directed_mul(double a, double b, Round mode) {
  if (!std::isfinite(a) || !std::isfinite(b)) return a * b;
  return rounded<double>(exact_product(a, b), mode);
}
double directed_fma(double a, double b, double c, Round mode) {
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) return std::fma(a, b, c);
  return rounded<double>(exact_fma(a, b, c, mode), mode);
}
double directed_div(double a, double b, Round mode) { return div(a, b, mode); }
double directed_sqrt(double a, Round mode) { return sqrt(a, mode); }

}  // namespace simgpu::arith
