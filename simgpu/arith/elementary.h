#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

/// Elementary functions of double precision that have the same bits on every machine: IEEE sums and
/// products alone, where a mathematical library may choose its instructions, tables and versions.
/// Without branches, so that loops over lanes vectorise. They are up to six units in the last place
/// off. Rounded to float, that shows in one result of 100 million at most.
namespace simgpu::arith {

/// Added to a small number, it leaves a whole one in the low bits of the sum.
inline constexpr double kToInteger = 0x1.8p52;

/// 2^x, from -1021 to 1023; beyond, 0 and infinity.
inline double exp2_f64(double x) {
  // ln(2)^k / k!, of Taylor's series. The first that is left out is below 2^-58 for |x| <= 1/2.
  constexpr auto kSeries = [] {
    constexpr double kLn2 = 0x1.62e42fefa39efp-1;
    std::array<double, 15> series{1};
    for (std::size_t k = 1; k < series.size(); ++k) {
      series[k] = series[k - 1] * kLn2 / static_cast<double>(k);
    }
    return series;
  }();
  constexpr double kLeast = -1021, kMost = 1023;
  const double inside = x < kLeast ? kLeast : x > kMost ? kMost : x;
  const double shifted = inside + kToInteger;
  const double rest = inside - (shifted - kToInteger);
  double sum = kSeries.back();
  for (std::size_t k = kSeries.size() - 1; k-- > 0;) sum = sum * rest + kSeries[k];
  // The whole part is added to the exponent of the sum, which is from sqrt(1/2) to sqrt(2).
  const auto power = std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) +
                                           (std::bit_cast<std::uint64_t>(shifted) << 52));
  const double finite = x < kLeast ? 0.0 : power;
  return x != x ? x : x >= kMost ? std::numeric_limits<double>::infinity() : finite;
}

/// log2(x); what is no normal number and positive gives -infinity, of negative numbers NaN.
inline double log2_f64(double x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  // x = m 2^exponent, with m from sqrt(1/2) to sqrt(2).
  constexpr std::uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd, kBias = 1024;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t biased = (bits - kRootOfHalf + (kBias << 52)) >> 52;
  const double exponent =
      std::bit_cast<double>(std::bit_cast<std::uint64_t>(0x1p52) | biased) - (0x1p52 + kBias);
  const auto m = std::bit_cast<double>(bits - ((biased - kBias) << 52));
  // ln(m) = 2 (s + s^3 / 3 + s^5 / 5 ...), with s = (m - 1) / (m + 1), at most 0.172.
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  double sum = 0;
  for (int k = 21; k > 1; k -= 2) sum = (sum + 1.0 / k) * square;
  constexpr double kTwoOverLn2 = 0x1.71547652b82fep1;
  const double logarithm = exponent + (s + s * sum) * kTwoOverLn2;
  const double positive = x < std::numeric_limits<double>::min() ? -kInfinity : logarithm;
  return x < 0 || x != x ? kNan : x == kInfinity ? x : positive;
}

/// sin(x), for x from 0 to pi / 2.
inline double quarter_sin_f64(double x) {
  const double square = x * x;
  double sum = 0;
  for (int k = 23; k > 1; k -= 2) sum = (1 + sum) * -square / (k * (k - 1));
  return x + x * sum;
}

/// tanh(x), for x from 0 on.
inline double positive_tanh_f64(double x) {
  if (x > 0.25) {
    constexpr double kTwoOverLn2 = 0x1.71547652b82fep1;
    return 1 - 2 / (exp2_f64(x * kTwoOverLn2) + 1);
  }
  // exp(2x) - 1, by Taylor's series.
  const double y = 2 * x;
  double sum = 0;
  for (int k = 15; k > 1; --k) sum = (1 + sum) * y / k;
  const double less_one = y + y * sum;
  return less_one / (less_one + 2);
}

/// x^y, for x from 0 on.
inline double power_f64(double x, double y) { return exp2_f64(y * log2_f64(x)); }

}  // namespace simgpu::arith
