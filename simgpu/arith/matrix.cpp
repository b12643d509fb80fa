#include "simgpu/arith/matrix.h"

#include <cmath>
#include <stdexcept>

#include "simgpu/arith/float64.h"
#include "simgpu/arith/half.h"
#include "simgpu/arith/integer.h"

namespace simgpu::arith {
namespace {

template <class In, class Sum>
void check_sizes(const TileShape& shape, std::span<const In> a, std::span<const In> b,
                 std::span<const Sum> c, std::span<Sum> d) {
  const auto [m, n, k] = shape;
  if (a.size() != m * k || b.size() != k * n || c.size() != m * n || d.size() != m * n) {
    throw std::invalid_argument("tile_product: give A as m*k, B as k*n, C and D as m*n elements");
  }
}

/// Row by row, with the columns innermost: neighbouring elements of D advance together and
/// vectorise.
template <class In, class Sum, class Start, class Step, class Finish>
void multiply(const TileShape& shape, std::span<const In> a, std::span<const In> b, Start start,
              Step step, Finish finish) {
  constexpr std::size_t kMaxColumns = 256;
  Sum row[kMaxColumns];
  if (shape.n > kMaxColumns) throw std::invalid_argument("tile_product: at most 256 columns");
  for (std::size_t i = 0; i < shape.m; ++i) {
    for (std::size_t j = 0; j < shape.n; ++j) row[j] = start(i * shape.n + j);
    for (std::size_t p = 0; p < shape.k; ++p) {
      const In x = a[i * shape.k + p];
      const In* y = b.data() + p * shape.n;
      for (std::size_t j = 0; j < shape.n; ++j) row[j] = step(row[j], x, y[j]);
    }
    for (std::size_t j = 0; j < shape.n; ++j) finish(i * shape.n + j, row[j]);
  }
}

/// One rounding to f32 of the exact product plus the sum.
float accumulate(float sum, float x, float y) { return __builtin_fmaf(x, y, sum); }

}  // namespace

void tile_product(const TileShape& shape, std::span<const float> a, std::span<const float> b,
                  std::span<const float> c, std::span<float> d) {
  check_sizes(shape, a, b, c, d);
  multiply<float, float>(
      shape, a, b, [&](std::size_t at) { return c[at]; }, accumulate,
      [&](std::size_t at, float sum) { d[at] = canonical(sum); });
}

void tile_product_f16(const TileShape& shape, std::span<const float> a, std::span<const float> b,
                      std::span<const std::uint16_t> c, std::span<std::uint16_t> d) {
  check_sizes(shape, a, b, c, d);
  multiply<float, float>(
      shape, a, b, [&](std::size_t at) { return f16_to_f32(c[at]); }, accumulate,
      [&](std::size_t at, float sum) { d[at] = f32_to_f16(sum); });
}

void tile_product(const TileShape& shape, std::span<const double> a, std::span<const double> b,
                  std::span<const double> c, std::span<double> d) {
  check_sizes(shape, a, b, c, d);
  multiply<double, double>(
      shape, a, b, [&](std::size_t at) { return c[at]; },
      [](double sum, double x, double y) { return __builtin_fma(x, y, sum); },
      [&](std::size_t at, double sum) { d[at] = canonical(sum); });
}

void tile_product(const TileShape& shape, std::span<const std::int32_t> a,
                  std::span<const std::int32_t> b, std::span<const std::int32_t> c,
                  std::span<std::int32_t> d, bool saturate) {
  check_sizes(shape, a, b, c, d);
  multiply<std::int32_t, std::int64_t>(
      shape, a, b, [&](std::size_t at) { return std::int64_t{c[at]}; },
      [](std::int64_t sum, std::int32_t x, std::int32_t y) { return sum + std::int64_t{x} * y; },
      [&](std::size_t at, std::int64_t sum) {
        d[at] = saturate ? clamp_s32(sum) : static_cast<std::int32_t>(sum);
      });
}

}  // namespace simgpu::arith
