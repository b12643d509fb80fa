#include "simgpu/arith/aligned_matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "simgpu/arith/rounding.h"

namespace simgpu::arith {
namespace {

/// Bits of the terms below the largest exponent.
constexpr int kKeptBits = 25;
/// Exponents of what has none: below, respectively above, all sums of two others.
constexpr std::int32_t kOfZero = -1000;
constexpr std::int32_t kOfInfinityOrNan = 1000;

// One term after the other.

struct Term {
  bool negative = false;
  std::int32_t exponent = kOfZero;
  std::int64_t significand = 0;  ///< in units of 2^(exponent - 46)
};

std::int32_t exponent_of(float x, int least) {
  const std::int32_t field = std::bit_cast<std::int32_t>(x) >> 23 & 255;
  if (x == 0) return kOfZero;
  return field == 255 ? kOfInfinityOrNan : std::max(field - 127, least);
}

/// The significand of a finite number that is not zero, in units of 2^(exponent - 23).
std::int64_t significand_of(float x, std::int32_t exponent) {
  return static_cast<std::int64_t>(std::ldexp(std::fabs(x), 23 - exponent));
}

/// The result where it is no number; 0 where it is one.
float special_sum(const TileShape& shape, const float* a, const float* b, float c) {
  float found = std::isfinite(c) ? 0 : c;
  for (std::size_t p = 0; p < shape.k; ++p) {
    const float x = a[p];
    const float y = b[p * shape.n];
    if (!std::isfinite(x) || !std::isfinite(y)) found += x * y;
  }
  return canonical(found);
}

float cut_off(std::int64_t sum, std::int32_t unit, bool rounds_on) {
  const std::uint64_t size = sum < 0 ? -static_cast<std::uint64_t>(sum) : sum;
  const int width = std::bit_width(size);
  if (width + unit > 128) return sum < 0 ? -HUGE_VALF : HUGE_VALF;
  const Exact exact{sum < 0, unit, size};
  std::uint32_t bits = round_to<Binary32>(exact, Round::zero);
  if (rounds_on && width > 24 && (size & ((std::uint64_t{1} << (width - 24)) - 1)) != 0) bits |= 1;
  return float_of(bits);
}

void add_element(const TileShape& shape, const float* a, const float* b, float& sum,
                 const AlignedSums& rule) {
  if (const float special = special_sum(shape, a, b, sum); special != 0) {
    sum = special;
    return;
  }
  const auto exponents = [&](std::size_t p) {
    return std::array{exponent_of(a[p], rule.least_input_exponent),
                      exponent_of(b[p * shape.n], rule.least_input_exponent)};
  };
  const std::int32_t of_sum = exponent_of(sum, rule.least_sum_exponent);
  std::int32_t largest = of_sum;
  for (std::size_t p = 0; p < shape.k; ++p) {
    largest = std::max(largest, exponents(p)[0] + exponents(p)[1]);
  }
  std::int64_t total = 0;
  const auto add = [&](bool negative, std::int64_t significand, std::int32_t exponent) {
    const std::int64_t kept = significand >> std::min(46 - kKeptBits + largest - exponent, 63);
    total += negative ? -kept : kept;
  };
  if (sum != 0) add(std::signbit(sum), significand_of(sum, of_sum) << 23, of_sum);
  for (std::size_t p = 0; p < shape.k; ++p) {
    const float x = a[p];
    const float y = b[p * shape.n];
    if (x == 0 || y == 0) continue;
    const auto [of_x, of_y] = exponents(p);
    add(std::signbit(x) != std::signbit(y), significand_of(x, of_x) * significand_of(y, of_y),
        of_x + of_y);
  }
  sum = total == 0 ? 0.0f : cut_off(total, largest - kKeptBits, rule.rounds_on);
}

/// Some rows and columns of a product, from these elements on.
struct Tile {
  TileShape shape;      ///< k is the number of products of a step
  std::size_t a_pitch;  ///< from one row of A to the next
  const float *a, *b;
  float* sums;
};

void add_elements(const Tile& tile, std::size_t rows, std::size_t columns,
                  const AlignedSums& rule) {
  const std::size_t n = tile.shape.n;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      add_element(tile.shape, tile.a + i * tile.a_pitch, tile.b + j, tile.sums[i * n + j], rule);
    }
  }
}

// Eight sums at once, where products and units are normal numbers of f32.

constexpr std::size_t kColumns = 8;
using Floats __attribute__((vector_size(4 * kColumns))) = float;
using Integers __attribute__((vector_size(4 * kColumns))) = std::int32_t;
// Half of them.
using FourFloats __attribute__((vector_size(4 * kColumns / 2))) = float;
using FourIntegers __attribute__((vector_size(4 * kColumns / 2))) = std::int32_t;
using Doubles __attribute__((vector_size(4 * kColumns))) = double;
using Longs __attribute__((vector_size(4 * kColumns))) = std::int64_t;

/// Beyond these, and for kOfInfinityOrNan, add_element() is asked.
constexpr std::int32_t kLeastFast = -100;
constexpr std::int32_t kMostFast = 125;
/// More products may not fit 32 bits.
constexpr std::size_t kMostProducts = 16;

template <class Vector, class T>
Vector load_as(const T* from) {
  Vector value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
Integers eight_of(std::int32_t value) { return value - Integers{}; }

Integers larger(Integers x, Integers y) { return x > y ? x : y; }

Integers exponents_of(Integers bits, std::int32_t least) {
  const Integers size = bits & 0x7fffffff;
  const Integers field = size >> 23;
  const Integers normal = larger(field - 127, eight_of(least));
  const Integers number = field == 255 ? eight_of(kOfInfinityOrNan) : normal;
  return size == 0 ? eight_of(kOfZero) : number;
}

/// Of A or B, whose size is a multiple of kColumns.
void exponents_of(std::span<const float> values, int least, std::int32_t* to) {
  for (std::size_t i = 0; i < values.size(); i += kColumns) {
    const Integers found = exponents_of(load_as<Integers>(&values[i]), least);
    std::memcpy(to + i, &found, sizeof(found));
  }
}

bool any(Integers mask) {
  const Longs words = std::bit_cast<Longs>(mask);
  return (words[0] | words[1] | words[2] | words[3]) != 0;
}

/// For which sums the fast way is right: no exponent is too large, nor is one too small that is
/// one.
Integers is_fast(Integers largest) {
  return (largest <= kMostFast) & ((largest >= kLeastFast) | (largest <= kOfZero / 2));
}

Floats power_of_two(Integers exponent) { return std::bit_cast<Floats>((exponent + 127) << 23); }

/// The sums of products and the C of each, cut off to f32 in units of one.
FourFloats cut_off(FourIntegers products, FourIntegers c, bool rounds_on) {
  const Doubles total =
      __builtin_convertvector(products, Doubles) + __builtin_convertvector(c, Doubles);
  constexpr std::int64_t kBeyondF32 = (std::int64_t{1} << 29) - 1;
  Longs bits = std::bit_cast<Longs>(total);
  const Longs lost = bits & kBeyondF32;
  bits -= lost;
  if (rounds_on) bits |= (lost != 0) & (kBeyondF32 + 1);
  return __builtin_convertvector(std::bit_cast<Doubles>(bits), FourFloats);
}

/// All in units of 2^(largest - kKeptBits).
Floats rounded(Integers products, Integers c, Integers largest, bool rounds_on) {
  const auto low = [](Integers x) { return __builtin_shufflevector(x, x, 0, 1, 2, 3); };
  const auto high = [](Integers x) { return __builtin_shufflevector(x, x, 4, 5, 6, 7); };
  const FourFloats first = cut_off(low(products), low(c), rounds_on);
  const FourFloats second = cut_off(high(products), high(c), rounds_on);
  // A product of floats, for the total and the unit are: only what overflows is rounded.
  return __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7) *
         power_of_two(largest - kKeptBits);
}

template <std::size_t kRows>
void add_block(const Tile& tile, const std::int32_t* of_a, const std::int32_t* of_b,
               const AlignedSums& rule) {
  const auto [m, n, k] = tile.shape;
  std::array<Integers, kRows> largest;
  for (std::size_t i = 0; i < kRows; ++i) {
    largest[i] = exponents_of(load_as<Integers>(tile.sums + i * n), rule.least_sum_exponent);
  }
  for (std::size_t p = 0; p < k; ++p) {
    const Integers y = load_as<Integers>(of_b + p * n);
    for (std::size_t i = 0; i < kRows; ++i) {
      largest[i] = larger(largest[i], y + of_a[i * tile.a_pitch + p]);
    }
  }
  std::array<Floats, kRows> scale;
  std::array<Integers, kRows> products{};
  Integers all_fast = eight_of(-1);
  for (std::size_t i = 0; i < kRows; ++i) {
    all_fast &= is_fast(largest[i]);
    largest[i] = larger(eight_of(kLeastFast), largest[i]);
    scale[i] = power_of_two(kKeptBits - largest[i]);
  }
  if (any(~all_fast)) {
    add_elements(tile, kRows, kColumns, rule);
    return;
  }
  for (std::size_t p = 0; p < k; ++p) {
    const Floats y = load_as<Floats>(tile.b + p * n);
    for (std::size_t i = 0; i < kRows; ++i) {
      products[i] += __builtin_convertvector(tile.a[i * tile.a_pitch + p] * y * scale[i], Integers);
    }
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    float* const sums = tile.sums + i * n;
    const Integers c = __builtin_convertvector(load_as<Floats>(sums) * scale[i], Integers);
    const Floats result = rounded(products[i], c, largest[i], rule.rounds_on);
    std::memcpy(sums, &result, sizeof(result));
  }
}

}  // namespace

void aligned_tile_product(const TileShape& shape, std::span<const float> a,
                          std::span<const float> b, std::span<float> sums,
                          const AlignedSums& rule) {
  const auto [m, n, k] = shape;
  if (a.size() != m * k || b.size() != k * n || sums.size() != m * n) {
    throw std::invalid_argument(
        "aligned_tile_product: give A as m * k, B as k * n and the sums as m * n elements");
  }
  const std::size_t step = rule.products_at_once == 0 ? k : rule.products_at_once;
  constexpr std::size_t kRows = 4;
  constexpr std::size_t kMostElements = 32 * kMostProducts;
  const bool fits = n % kColumns == 0 && m % kRows == 0 && step <= kMostProducts &&
                    a.size() % kColumns == 0 && a.size() <= kMostElements &&
                    b.size() <= kMostElements;
  alignas(64) std::array<std::int32_t, kMostElements> of_a;
  alignas(64) std::array<std::int32_t, kMostElements> of_b;
  if (fits) {
    exponents_of(a, rule.least_input_exponent, of_a.data());
    exponents_of(b, rule.least_input_exponent, of_b.data());
  }
  for (std::size_t p = 0; p < k; p += step) {
    const TileShape part{m, n, std::min(step, k - p)};
    if (!fits) {
      add_elements({part, k, &a[p], &b[p * n], sums.data()}, m, n, rule);
      continue;
    }
    for (std::size_t i = 0; i < m; i += kRows) {
      for (std::size_t j = 0; j < n; j += kColumns) {
        const std::size_t at_a = i * k + p;
        const std::size_t at_b = p * n + j;
        add_block<kRows>({part, k, &a[at_a], &b[at_b], &sums[i * n + j]}, &of_a[at_a], &of_b[at_b],
                         rule);
      }
    }
  }
}

}  // namespace simgpu::arith
