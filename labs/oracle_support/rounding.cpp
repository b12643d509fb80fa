#include "labs/oracle_support/rounding.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace rooflab {
namespace {

/// Bits after the leading one.
int fraction_bits(ElementType type) {
  if (type == ElementType::float32) return 23;
  if (type == ElementType::bfloat16) return 7;
  throw std::invalid_argument("results are float32 or bfloat16");
}

}  // namespace

double ulp(ElementType type, double value) {
  constexpr int kSmallestExponent = -126;  // of normal numbers: bfloat16 has float32's exponents
  const bool has_exponent = value != 0 && std::isfinite(value);
  const int exponent = has_exponent ? std::ilogb(value) : kSmallestExponent;
  return std::ldexp(1.0, std::max(exponent, kSmallestExponent) - fraction_bits(type));
}

double sum_tolerance(std::int64_t count, double unit, double magnitude) {
  constexpr double kLambda = 8;
  return kLambda * std::sqrt(static_cast<double>(count)) * unit * magnitude;
}

}  // namespace rooflab
