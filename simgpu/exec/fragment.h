#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "simgpu/exec/lanes.h"

/// Fragments: how the registers of a warp hold the matrices of tensor instructions.
///
/// PTX fixes this for mma, ldmatrix and stmatrix ("Matrix Fragments for mma …", PTX ISA) and leaves
/// it open for wmma, whose fragments here are those of the mma instructions that its product is
/// made of, as on GPUs since Turing.
///
/// Of an input matrix (A, or B column by column) a register holds eight rows of 16 bytes: lane 4g+t
/// has bytes 4t to 4t+3 of row g, so that a slot is the 8 x 16 bytes one row after the other. With
/// 64-bit elements the rows have 32 bytes. Of C and D a register holds the even or the odd
/// columns of 8 x 8 elements: lane 4g+t has element (g, 2t) or (g, 2t+1); with 16-bit elements it
/// holds both.
namespace simgpu {

enum class TileType : std::uint8_t { f16, bf16, tf32, f32, f64, s8, u8, s4, u4, b1, s32 };

constexpr unsigned bits_of(TileType type) {
  constexpr std::array<unsigned, 11> kBits{16, 16, 32, 32, 64, 8, 8, 4, 4, 1, 32};
  return kBits[static_cast<unsigned>(type)];
}
/// The type a modifier names; nothing for other modifiers.
std::optional<TileType> tile_type_of(std::string_view modifier);
bool is_signed(TileType type);

/// Rows of A and D, columns of B and D, and the length of each dot product.
struct ProductShape {
  unsigned m = 0, n = 0, k = 0;
};
/// "m16n8k16"; nothing for other modifiers.
std::optional<ProductShape> product_shape_of(std::string_view modifier);

inline constexpr unsigned kBlockRows = 8;
inline constexpr unsigned kLanesPerRow = 4;

/// A, or B with its columns as rows: `rows` times `k` elements.
struct InputFragment {
  unsigned rows = 0, k = 0;
  TileType type = TileType::f16;
  bool is_a = true;

  unsigned row_blocks() const { return rows / kBlockRows; }
  unsigned bytes_per_row() const { return k * bits_of(type) / 8; }
  /// Of one register.
  unsigned block_bytes_per_row() const { return bits_of(type) == 64 ? 32 : 16; }
  unsigned column_blocks() const { return bits_of(type) == 64 ? k / 4 : bytes_per_row() / 16; }
  unsigned registers() const { return row_blocks() * column_blocks(); }
  /// Which of them holds rows 8 * row_block …: of A, the two halves of 16 rows follow each other.
  unsigned register_of(unsigned row_block, unsigned column_block) const {
    if (!is_a || rows == kBlockRows) return row_block * column_blocks() + column_block;
    return row_block / 2 * 2 * column_blocks() + column_block * 2 + row_block % 2;
  }
};

/// C or D.
struct SumFragment {
  unsigned rows = 0, columns = 0;
  TileType type = TileType::f32;

  /// Registers of 8 x 8 elements.
  unsigned per_block() const { return bits_of(type) == 16 ? 1 : 2; }
  unsigned registers() const { return rows * columns / 64 * per_block(); }
  unsigned register_of(unsigned row_block, unsigned column_block) const {
    const unsigned row_of_blocks = columns / kBlockRows;
    if (rows == kBlockRows) return column_block * per_block();
    return ((row_block / 2 * row_of_blocks + column_block) * 2 + row_block % 2) * per_block();
  }
};

/// Columns of B, C and D in the order in which products are computed: of each eight first the even,
/// then the odd ones, as the registers of C have them.
constexpr unsigned computed_column(unsigned column) {
  return column / 8 * 8 + column % 2 * 4 + column % 8 / 2;
}

/// The registers of a fragment: `list[i]` is the slot of the i-th.
struct FragmentSlots {
  std::byte* regs;
  const std::uint32_t* list;
  std::byte* operator[](unsigned i) const { return regs + list[i]; }
};

// Fragments to plain matrices and back. `rows` x k elements, row-major; B's rows are its columns.

/// A: (rows, k).
void unpack_a(const InputFragment& fragment, FragmentSlots slots, float* to);
void unpack_a(const InputFragment& fragment, FragmentSlots slots, double* to);
/// B: (k, rows), columns in computed order.
void unpack_b(const InputFragment& fragment, FragmentSlots slots, float* to);
void unpack_b(const InputFragment& fragment, FragmentSlots slots, double* to);
/// A as it is, B's columns in computed order, both (rows, k).
void unpack_integers(const InputFragment& fragment, FragmentSlots slots, std::int16_t* to);
/// The same for single bits, as (rows, k / 32) words.
void unpack_bits(const InputFragment& fragment, FragmentSlots slots, std::uint32_t* to);
/// C: (rows, columns), columns in computed order.
void unpack_sums(const SumFragment& fragment, FragmentSlots slots, float* to);
void unpack_sums(const SumFragment& fragment, FragmentSlots slots, double* to);
void unpack_sums(const SumFragment& fragment, FragmentSlots slots, std::int32_t* to);
/// D.
void pack_sums(const SumFragment& fragment, const float* from, FragmentSlots slots);
void pack_sums(const SumFragment& fragment, const double* from, FragmentSlots slots);
void pack_sums(const SumFragment& fragment, const std::int32_t* from, FragmentSlots slots);

}  // namespace simgpu
