#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// Tile products of wmma and mma: D = A * B + C, every operand a dense row-major matrix of plain
/// values (the engine gathers fragments from lanes and scatters them back).
///
/// How sums round: a tensor core's order and inner precision are not specified by PTX ("at least
/// single precision" for f32 accumulators). Here each element of D starts at C and takes the k
/// products in rising order of k: the product is exact (in double), the running sum is rounded to
/// f32 at each step for f32 accumulators. For f16 accumulators the running sum is f32 too and is
/// rounded to f16 once, at the end. f64 uses one fused multiply-add per step, s32 wraps or, with
/// `saturate`, clamps the final sum.
namespace simgpu::arith {

/// Rows of A and D, columns of B and D, and the length of each dot product.
struct TileShape {
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;
};

/// f16, bf16 and tf32 inputs, already widened to f32 (exactly), with f32 accumulators.
void tile_product(const TileShape& shape, std::span<const float> a, std::span<const float> b,
                  std::span<const float> c, std::span<float> d);

/// f16 inputs widened to f32; C and D as f16 bit patterns.
void tile_product_f16(const TileShape& shape, std::span<const float> a, std::span<const float> b,
                      std::span<const std::uint16_t> c, std::span<std::uint16_t> d);

void tile_product(const TileShape& shape, std::span<const double> a, std::span<const double> b,
                  std::span<const double> c, std::span<double> d);

/// s8, u8, s4, u4 inputs widened to s32. @param saturate .satfinite: clamp instead of wrapping
void tile_product(const TileShape& shape, std::span<const std::int32_t> a,
                  std::span<const std::int32_t> b, std::span<const std::int32_t> c,
                  std::span<std::int32_t> d, bool saturate);

}  // namespace simgpu::arith
