#include "labs/oracle_support/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace rooflab {
namespace {

/// How a type stores its normal numbers.
struct Format {
  int fraction_bits;  ///< after the leading one
  int smallest_exponent;
  double largest;
};

Format format_of(ElementType type) {
  if (type == ElementType::float32) return {23, -126, 0x1.fffffep127};
  if (type == ElementType::bfloat16) return {7, -126, 0x1.fep127};
  if (type == ElementType::float16) return {10, -14, 65504};
  throw std::invalid_argument("results are float32, float16 or bfloat16");
}

}  // namespace

double ulp(ElementType type, double value) {
  const Format format = format_of(type);
  const bool has_exponent = value != 0 && std::isfinite(value);
  const int exponent = has_exponent ? std::ilogb(value) : format.smallest_exponent;
  return std::ldexp(1.0, std::max(exponent, format.smallest_exponent) - format.fraction_bits);
}

double half_ulp(ElementType type, double value) { return ulp(type, value) / 2; }

double rounded(ElementType type, double value) {
  const double distance = ulp(type, value);  // a power of two: nothing but nearbyint rounds here
  const double nearest = std::nearbyint(value / distance) * distance;
  if (std::abs(nearest) <= format_of(type).largest || std::isnan(nearest)) return nearest;
  return std::copysign(std::numeric_limits<double>::infinity(), nearest);
}

void round_within_error(ElementType type, double& value, double& error) {
  const double low = rounded(type, value - error);
  const double high = rounded(type, value + error);
  value = (low + high) / 2;
  error = (high - low) / 2;
}

double sum_tolerance(std::int64_t count, double unit, double magnitude) {
  constexpr double kLambda = 8;
  return kLambda * std::sqrt(static_cast<double>(count)) * unit * magnitude;
}

Expected stored(const std::string& tensor, ElementType type, Computed computed) {
  for (std::size_t i = 0; i < computed.value.size(); ++i) {
    computed.error[i] += half_ulp(type, std::abs(computed.value[i]) + computed.error[i]);
  }
  return {tensor, std::move(computed.value), std::move(computed.error)};
}

}  // namespace rooflab
