#include "labs/part3-decoder/oracle/rounding.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace rooflab {
namespace {

/// Bits after the leading one.
int fraction_bits(ElementType type) {
  if (type == ElementType::float32) return 23;
  if (type == ElementType::bfloat16) return 7;
  throw std::invalid_argument("only float32 and bfloat16 are stored here");
}

/// The exponent of the distance between neighbours at `value`. Both types have float32's exponents.
int ulp_exponent(ElementType type, double value) {
  constexpr int kSmallestExponent = -126;
  const int exponent = value == 0 ? kSmallestExponent : std::ilogb(value);
  return std::max(exponent, kSmallestExponent) - fraction_bits(type);
}

bool differs(const Expected& output, const Expected& right) {
  for (std::size_t i = 0; i < output.value.size(); ++i) {
    const double bound = std::max(output.tolerance[i], right.tolerance[i]);
    if (!(std::abs(output.value[i] - right.value[i]) <= bound)) return true;
  }
  return false;
}

}  // namespace

double half_ulp(ElementType type, double value) {
  return std::ldexp(0.5, ulp_exponent(type, value));
}

double rounded(ElementType type, double value) {
  const int exponent = ulp_exponent(type, value);
  return std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
}

double product_error(double count, double norm_a, double norm_b) {
  return 8 * std::sqrt(count) * kFloat32Unit * norm_a * norm_b;
}

Expected stored(const std::string& tensor, ElementType type, Computed computed) {
  for (std::size_t i = 0; i < computed.value.size(); ++i) {
    computed.error[i] += half_ulp(type, std::abs(computed.value[i]) + computed.error[i]);
  }
  return {tensor, std::move(computed.value), std::move(computed.error)};
}

void Mistakes::add(const std::string& code, const std::string& cause, const std::string& advice,
                   std::vector<Expected> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!differs(outputs[i], right_.at(i))) continue;
    mistakes_.push_back({code, cause, advice, std::move(outputs)});
    return;
  }
}

}  // namespace rooflab
