#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// Tile products of wmma and mma on plain dense matrices: the engine takes fragments apart and puts
/// them together again.
///
/// How sums round: PTX leaves a tensor core's order and inner precision open ("at least single
/// precision" for f32 accumulators). Here (for GPUs since Hopper see aligned_matrix.h) each element
/// of D starts at C and takes the k products in rising order of k: the product is exact, and the
/// running sum is rounded to f32 at each step (a chain of fused multiply-adds). f64 does the same
/// in f64. For f16 accumulators the running sum is f32 too and is rounded to f16 once, at the end;
/// the caller does that. Integer sums wrap at 32 bits or, with `saturate`, are clamped once, at the
/// end.
namespace simgpu::arith {

/// Rows of A and D, columns of B and D, and the length of each dot product.
struct TileShape {
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;
};

/// sums += a * b, for f16, bf16 and tf32 inputs already widened to f32 (exactly). NaNs become the
/// canonical one; of f64 they are those of a chain of fma_f64().
/// @param a (m, k), row-major
/// @param b (k, n), row-major
/// @param sums (m, n), row-major
/// @throws std::invalid_argument when a span does not have that many elements
void tile_product(const TileShape& shape, std::span<const float> a, std::span<const float> b,
                  std::span<float> sums);
void tile_product(const TileShape& shape, std::span<const double> a, std::span<const double> b,
                  std::span<double> sums);

/// The same for s8, u8, s4 and u4 inputs. B comes column by column: then each sum is a dot product
/// of two stretches of memory.
/// @param b_columns (n, k), row-major
/// @param saturate .satfinite: clamp instead of wrapping
void tile_product(const TileShape& shape, std::span<const std::int16_t> a,
                  std::span<const std::int16_t> b_columns, std::span<std::int32_t> sums,
                  bool saturate);

/// Single bits, 32 in each word: sums += popcount(a op b), where op is "and" or "xor".
/// @param a (m, k / 32)
/// @param b_columns (n, k / 32)
enum class BitOperation : std::uint8_t { and_, xor_ };
void bit_tile_product(const TileShape& shape, std::span<const std::uint32_t> a,
                      std::span<const std::uint32_t> b_columns, std::span<std::int32_t> sums,
                      BitOperation operation);

/// 8 x 8 bit patterns of f16, one after the other in memory of any alignment, to f32 with rows
/// `stride` elements apart: as f16_to_f32, but NaNs may keep their payload.
void widen_f16_8x8(const std::byte* from, float* to, std::size_t stride);

/// 8 x 8 elements of 16 bits: row i of `to` is column i of `from`. They must not overlap.
/// @param from_pitch, to_pitch bytes from one row to the next
void transpose_8x8_halves(const std::byte* from, std::size_t from_pitch, std::byte* to,
                          std::size_t to_pitch);

}  // namespace simgpu::arith
