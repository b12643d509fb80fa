#pragma once

#include <span>

#include "simgpu/arith/matrix.h"

/// Tile products as tensor cores since Hopper round them.
namespace simgpu::arith {

/// What the rounding rule wants to know of an instruction's types.
struct AlignedSums {
  /// The least exponent of a normal number in the type of A and B, and of C: a subnormal has that
  /// one, too, for no tensor core normalises it.
  int least_input_exponent = -126;
  int least_sum_exponent = -126;
  /// Products that are summed at once; then that sum is the next one's C. 0: all.
  std::size_t products_at_once = 0;
  /// D is rounded once more, to f16: bit 0 of each sum tells whether anything was cut off, so that
  /// the two roundings come to one.
  bool rounds_on = false;
};

/// sums += a * b, for f16, bf16 and tf32 inputs widened to f32.
///
/// Products and C are summed at once. The largest exponent counts, of C and of the products,
/// a product's being the sum of its factors' (so its significand is in [1, 4)); every term is cut
/// off towards zero at 25 bits below that, the sum of what is left is exact, and it is cut off to
/// f32. A sum of zero is +0, a NaN the canonical one, and 2^128 or more infinity.
///
/// Found on an H200 by fitting (simgpu/fidelity/measured): all sums of its 7 kinds of mma and 4 of
/// wmma are as this says.
///
/// @param a (m, k), row-major; at most 12 bits of significand in each element
/// @param b (k, n), row-major; likewise
/// @param sums (m, n), row-major
/// @throws std::invalid_argument when a span does not have that many elements
void aligned_tile_product(const TileShape& shape, std::span<const float> a,
                          std::span<const float> b, std::span<float> sums, const AlignedSums& rule);

}  // namespace simgpu::arith
