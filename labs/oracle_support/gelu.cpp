#include "labs/oracle_support/gelu.h"

#include <cmath>
#include <numbers>

namespace rooflab {
namespace {

constexpr double kCubic = 0.044715;

double tanh_of_inner(double x, double cubic) {
  return std::tanh(std::sqrt(2 / std::numbers::pi) * (x + cubic * x * x * x));
}

}  // namespace

double gelu_tanh(double x) { return gelu_tanh_with(x, kCubic); }

double gelu_tanh_with(double x, double cubic) { return x / 2 * (1 + tanh_of_inner(x, cubic)); }

double gelu_tanh_slope(double x) {
  const double root = std::sqrt(2 / std::numbers::pi);
  const double tanh = tanh_of_inner(x, kCubic);
  return (1 + tanh) / 2 + x / 2 * (1 - tanh * tanh) * root * (1 + 3 * kCubic * x * x);
}

double gelu_erf(double x) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2)); }

double sigmoid_unit(double x, double steepness) { return x / (1 + std::exp(-steepness * x)); }

}  // namespace rooflab
