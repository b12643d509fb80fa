#pragma once

#include <algorithm>
#include <cstdint>

#include "simgpu/exec/fragment.h"

namespace simgpu {

enum class TileSpace : std::uint8_t { generic, global, shared };

/// The matrix that a fragment of wmma.load or wmma.store holds, and how it lies in memory; packed
/// into Lowered::option.
struct MatrixTile {
  ProductShape shape;
  TileType type = TileType::f16;
  char matrix = 'a';       ///< a, b or c; c stands for d too
  bool by_column = false;  ///< in memory
  TileSpace space = TileSpace::generic;

  bool is_input() const { return matrix != 'c'; }
  unsigned rows() const { return matrix == 'b' ? shape.k : shape.m; }
  unsigned columns() const { return matrix == 'a' ? shape.k : shape.n; }
  InputFragment input() const {
    return {matrix == 'a' ? shape.m : shape.n, shape.k, type, matrix == 'a'};
  }
  SumFragment sums() const { return {shape.m, shape.n, type}; }
  unsigned registers() const { return is_input() ? input().registers() : sums().registers(); }
  /// What each line's address is a multiple of: the size of the fragment, of a lane's registers
  /// (PTX ISA, matrix storage for WMMA), where CUDA C++ asks for no more than 16 bytes.
  unsigned alignment() const {
    const unsigned register_bytes = type == TileType::f64 ? 8 : 4;
    return std::min(registers() * register_bytes, 16U);
  }
  /// Memory is lines of consecutive elements: rows, or columns.
  unsigned lines() const { return by_column ? columns() : rows(); }
  unsigned line_elements() const { return by_column ? rows() : columns(); }
  unsigned line_bytes() const { return line_elements() * bits_of(type) / 8; }
  /// Whether lines are what a fragment has as rows: rows of A and C, columns of B.
  bool is_turned() const { return by_column != (matrix == 'b'); }

  std::uint32_t encode() const {
    return shape.m | shape.n << 6 | shape.k << 12 | static_cast<unsigned>(type) << 20 |
           static_cast<unsigned>(matrix - 'a') << 24 | static_cast<unsigned>(by_column) << 26 |
           static_cast<unsigned>(space) << 27;
  }
  static MatrixTile decode(std::uint32_t option) {
    return {{option & 63U, option >> 6 & 63U, option >> 12 & 255U},
            static_cast<TileType>(option >> 20 & 15U),
            static_cast<char>('a' + (option >> 24 & 3U)),
            (option >> 26 & 1U) != 0,
            static_cast<TileSpace>(option >> 27)};
  }
};

/// Between a matrix whose lines are the fragment's rows, and its registers. Calls
/// copy(place in the matrix, register, place in its slot, count), all in bytes, for stretches that
/// lie together in both.
template <class Copy>
void each_stretch(const MatrixTile& tile, Copy copy) {
  if (tile.is_input() || bits_of(tile.type) == 16) {
    // C and D of 16 bits lie like inputs, in blocks of their own order.
    const InputFragment input = tile.is_input()
                                    ? tile.input()
                                    : InputFragment{tile.shape.m, tile.shape.n, tile.type, false};
    const unsigned bytes = input.block_bytes_per_row();
    for (unsigned i = 0; i < input.row_blocks(); ++i) {
      for (unsigned j = 0; j < input.column_blocks(); ++j) {
        const unsigned reg =
            tile.is_input() ? input.register_of(i, j) : tile.sums().register_of(i, j);
        for (unsigned g = 0; g < kBlockRows; ++g) {
          copy((i * kBlockRows + g) * input.bytes_per_row() + j * bytes, reg, g * bytes, bytes);
        }
      }
    }
    return;
  }
  const SumFragment sums = tile.sums();
  const unsigned bytes = bits_of(tile.type) / 8;
  for (unsigned at = 0; at < sums.rows * sums.columns; ++at) {
    const unsigned row = at / sums.columns;
    const unsigned column = at % sums.columns;
    const unsigned reg = sums.register_of(row / kBlockRows, column / kBlockRows) + column % 2;
    const unsigned lane = row % kBlockRows * kLanesPerRow + column % kBlockRows / 2;
    copy(at * bytes, reg, lane * bytes, bytes);
  }
}

}  // namespace simgpu
