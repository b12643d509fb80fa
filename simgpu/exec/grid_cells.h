#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simgpu/exec/block_sampler.h"

namespace simgpu {

/// A box of blocks that all do the same work, at addresses that move by a constant step from one
/// block to the next along each axis of the grid.
class GridCell {
 public:
  using Index = std::array<std::uint64_t, 3>;

  /// Blocks [low, high). Runs the first one and its neighbours.
  /// @throws NotSampled when they do not do the same work
  GridCell(const Index& low, const Index& high, const Index& grid, BlockSampler& sampler);

  bool holds(const Index& block) const;
  std::uint64_t blocks() const;
  const BlockProfile& first() const { return *first_; }
  /// The last block of the box, numbered through the grid.
  std::uint64_t last_block() const;
  /// Whether a block of the box did what the box says.
  bool predicts(const Index& block, const BlockProfile& profile) const;
  /// What a block of the box asks memory for; only entries are filled in.
  void log_of(const Index& block, TrafficLog& log) const;

 private:
  std::int64_t moved(std::size_t entry, const Index& block) const;

  Index low_, high_, grid_;
  const BlockProfile* first_;
  /// By axis and entry of the log, in sectors; empty along an axis on which the box has one block.
  std::array<std::vector<std::int64_t>, 3> steps_;
};

/// Divides a grid into boxes of equal blocks: along each axis blocks are run and compared until
/// all places are known at which their work changes, as at the last block of a ragged row. Further
/// blocks all over the grid are then run to see that they do what their boxes say.
class GridCells {
 public:
  /// @throws NotSampled when the grid does not divide so, LaunchFailure when a block fails
  GridCells(const Dim3& grid, BlockSampler& sampler);

  const std::vector<GridCell>& cells() const { return cells_; }
  void log_of(std::uint64_t block, TrafficLog& log) const;

 private:
  std::vector<std::uint64_t> bounds_along(std::size_t axis);
  void check(std::uint64_t block);
  GridCell::Index index_of(std::uint64_t block) const;
  std::uint64_t block_at(const GridCell::Index& index) const;
  const GridCell& cell_of(const GridCell::Index& index) const;

  BlockSampler& sampler_;
  GridCell::Index grid_;
  std::vector<GridCell> cells_;
};

}  // namespace simgpu
