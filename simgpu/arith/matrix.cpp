#include "simgpu/arith/matrix.h"

#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "simgpu/arith/float64.h"
#include "simgpu/arith/half.h"
#include "simgpu/arith/integer.h"

namespace simgpu::arith {
namespace {

/// 32 bytes of numbers, on which GCC and clang compute element by element.
template <class T>
struct VectorOf {
  using type __attribute__((vector_size(32))) = T;
};
template <class T>
using Vector = typename VectorOf<T>::type;
template <class T>
constexpr std::size_t kLanes = 32 / sizeof(T);

template <class T>
Vector<T> load(const T* from) {
  Vector<T> value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
template <class T>
void store(T* to, Vector<T> value) {
  std::memcpy(to, &value, sizeof(value));
}

/// x * y + sum, each element rounded once: compilers make vector instructions of it.
template <class T>
Vector<T> fused(Vector<T> x, Vector<T> y, Vector<T> sum) {
  for (std::size_t i = 0; i < kLanes<T>; ++i) {
    if constexpr (sizeof(T) == 4) sum[i] = __builtin_fmaf(x[i], y[i], sum[i]);
    if constexpr (sizeof(T) == 8) sum[i] = __builtin_fma(x[i], y[i], sum[i]);
  }
  return sum;
}

/// The same number in every element; subtracting zero keeps the sign of a zero.
template <class T>
Vector<T> spread(T value) {
  return value - Vector<T>{};
}

Vector<float> canonical_lanes(Vector<float> x) {
  return x == x ? x : spread(float_of(kNanF32Bits));
}

void require_sizes(bool right) {
  if (!right) {
    throw std::invalid_argument(
        "tile_product: give A as m * k, B as k * n and the sums as m * n elements");
  }
}

template <class T>
void add_element(const TileShape& shape, const T* a, const T* b, T& sum) {
  for (std::size_t p = 0; p < shape.k; ++p) {
    if constexpr (sizeof(T) == 4) sum = __builtin_fmaf(a[p], b[p * shape.n], sum);
    if constexpr (sizeof(T) == 8) sum = fma_f64(a[p], b[p * shape.n], sum);
  }
  if constexpr (sizeof(T) == 4) sum = canonical(sum);
}

/// Stores a row's sums of f64. Which NaN comes out of several, the host does not say.
void keep_sums(const TileShape& shape, const double* a, const double* b, Vector<double> found,
               double* sums) {
  for (std::size_t j = 0; j < kLanes<double>; ++j) {
    if (found[j] == found[j]) {
      sums[j] = found[j];
    } else {
      add_element(shape, a, b + j, sums[j]);
    }
  }
}

/// kRows x one vector of columns of the sums: these stay in processor registers over all of k.
template <std::size_t kRows, class T>
void add_block(const TileShape& shape, const T* a, const T* b, T* sums) {
  Vector<T> sum[kRows];
  for (std::size_t i = 0; i < kRows; ++i) sum[i] = load(sums + i * shape.n);
  for (std::size_t p = 0; p < shape.k; ++p) {
    const Vector<T> y = load(b + p * shape.n);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kRows; ++i) {
      sum[i] = fused<T>(spread(a[i * shape.k + p]), y, sum[i]);
    }
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    if constexpr (sizeof(T) == 4) {
      store(sums + i * shape.n, canonical_lanes(sum[i]));
    } else {
      keep_sums(shape, a + i * shape.k, b, sum[i], sums + i * shape.n);
    }
  }
}

template <class T>
void multiply(const TileShape& shape, std::span<const T> a, std::span<const T> b,
              std::span<T> sums) {
  const auto [m, n, k] = shape;
  require_sizes(a.size() == m * k && b.size() == k * n && sums.size() == m * n);
  constexpr std::size_t kRows = 8;
  const std::size_t block_rows = m / kRows * kRows;
  const std::size_t block_columns = n / kLanes<T> * kLanes<T>;
  for (std::size_t i = 0; i < block_rows; i += kRows) {
    for (std::size_t j = 0; j < block_columns; j += kLanes<T>) {
      add_block<kRows>(shape, &a[i * k], &b[j], &sums[i * n + j]);
    }
  }
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = i < block_rows ? block_columns : 0; j < n; ++j) {
      add_element(shape, &a[i * k], &b[j], sums[i * n + j]);
    }
  }
}

/// As f16_to_f32, but a NaN keeps its payload: the product makes it canonical, and a row takes half
/// the instructions.
float widened_f16(std::int16_t h) {
  const std::uint32_t bits = static_cast<std::uint32_t>(std::int32_t{h}) << 13;
  const float number = float_of(bits & 0x8fffe000u) * 0x1p112f;
  const std::uint32_t special = (bits & 0x0f800000u) == 0x0f800000u ? 0x7f800000u : 0u;
  return float_of(bits_of(number) | special);
}

}  // namespace

void tile_product(const TileShape& shape, std::span<const float> a, std::span<const float> b,
                  std::span<float> sums) {
  multiply(shape, a, b, sums);
}

void tile_product(const TileShape& shape, std::span<const double> a, std::span<const double> b,
                  std::span<double> sums) {
  multiply(shape, a, b, sums);
}

void tile_product(const TileShape& shape, std::span<const std::int16_t> a,
                  std::span<const std::int16_t> b_columns, std::span<std::int32_t> sums,
                  bool saturate) {
  const auto [m, n, k] = shape;
  require_sizes(a.size() == m * k && b_columns.size() == n * k && sums.size() == m * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const std::int16_t* const x = &a[i * k];
      const std::int16_t* const y = &b_columns[j * k];
      // At most 256 products of 16 bits: no overflow before C comes in.
      std::int32_t products = 0;
      for (std::size_t p = 0; p < k; ++p) products += std::int32_t{x[p]} * y[p];
      const std::int64_t sum = std::int64_t{sums[i * n + j]} + products;
      sums[i * n + j] = saturate ? clamp_s32(sum) : static_cast<std::int32_t>(sum);
    }
  }
}

void bit_tile_product(const TileShape& shape, std::span<const std::uint32_t> a,
                      std::span<const std::uint32_t> b_columns, std::span<std::int32_t> sums,
                      BitOperation operation) {
  const std::size_t m = shape.m;
  const std::size_t n = shape.n;
  const std::size_t words = shape.k / 32;
  require_sizes(a.size() == m * words && b_columns.size() == n * words && sums.size() == m * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      auto sum = static_cast<std::uint32_t>(sums[i * n + j]);
      for (std::size_t p = 0; p < words; ++p) {
        const std::uint32_t x = a[i * words + p];
        const std::uint32_t y = b_columns[j * words + p];
        const std::uint32_t bits = operation == BitOperation::and_ ? x & y : x ^ y;
        sum += static_cast<std::uint32_t>(std::popcount(bits));
      }
      sums[i * n + j] = static_cast<std::int32_t>(sum);
    }
  }
}

void widen_f16_8x8(const std::byte* from, float* to, std::size_t stride) {
  for (std::size_t row = 0; row < 8; ++row) {
    std::array<std::int16_t, 8> halves;
    std::memcpy(halves.data(), from + 16 * row, sizeof(halves));
    for (std::size_t i = 0; i < 8; ++i) to[row * stride + i] = widened_f16(halves[i]);
  }
}

/// Three rounds of interleaving rows i and i + 4.
void transpose_8x8_halves(const std::byte* from, std::size_t from_pitch, std::byte* to,
                          std::size_t to_pitch) {
  using Row __attribute__((vector_size(16))) = std::uint16_t;
  std::array<Row, 8> rows;
  for (std::size_t i = 0; i < 8; ++i) std::memcpy(&rows[i], from + i * from_pitch, sizeof(Row));
  for (int round = 0; round < 3; ++round) {
    std::array<Row, 8> next;
    for (std::size_t i = 0; i < 4; ++i) {
      next[2 * i] = __builtin_shufflevector(rows[i], rows[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      next[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    rows = next;
  }
  for (std::size_t i = 0; i < 8; ++i) std::memcpy(to + i * to_pitch, &rows[i], sizeof(Row));
}

}  // namespace simgpu::arith
