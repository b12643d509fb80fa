#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simgpu/counters/byte_set.h"
#include "simgpu/exec/block_sampler.h"

namespace simgpu {

/// Blocks of a box, every so many along each axis of the grid, that all do the same work, at
/// addresses that move by a constant step from one of them to the next.
class GridCell {
 public:
  using Index = std::array<std::uint64_t, 3>;

  /// Blocks low, low + period … below high. Runs the first one and its neighbours.
  GridCell(const Index& low, const Index& high, const Index& period, const Index& grid,
           BlockSampler& sampler);

  /// False when neighbours do not do the same work.
  bool is_uniform() const { return uniform_; }
  std::uint64_t blocks() const;
  const BlockProfile& first() const { return *first_; }
  /// The block farthest from the first one.
  Index last() const;
  /// Whether a block of the cell did what the cell says.
  bool predicts(const Index& block, const BlockProfile& profile) const;
  /// What a block of the cell asks memory for; only entries are filled in.
  void log_of(const Index& block, TrafficLog& log) const;
  /// Takes in what all its blocks touch.
  void add_touched(KindFilter wanted, ByteSet& touched) const;

 private:
  using Steps = std::array<std::int64_t, 3>;  ///< sectors from block to block, by axis
  Steps steps_of(std::size_t entry) const;
  std::uint64_t size(std::size_t axis) const {
    return (high_[axis] - low_[axis] + period_[axis] - 1) / period_[axis];
  }

  Index low_, high_, period_;
  const BlockProfile* first_;
  bool uniform_ = true;
  /// By axis and entry of the log, in sectors; empty along an axis on which there is one block.
  std::array<std::vector<std::int64_t>, 3> steps_;
};

/// Divides a grid into cells of equal blocks.
///
/// Along each axis blocks are run and compared until all places are known at which their work
/// changes, as at the last block of a ragged row. Where a step from block to block is no whole
/// number of cache lines, requests meet lines differently in neighbouring blocks, and in the same
/// way again a power of two further: such blocks are of different cells. Further blocks all over
/// the grid are then run to see that they do what their cells say.
class GridCells {
 public:
  /// Periods to try where a period that two blocks suggest, of one block or more, is too short for
  /// others: the words of a sector, and of a cache line, for addresses that move by whole words.
  static constexpr std::array<std::uint64_t, 2> kLongPeriods{8, 32};

  /// @param least_period of all axes
  /// @throws NotSampled when the grid does not divide so, LaunchFailure when a block fails
  GridCells(const Dim3& grid, std::uint64_t least_period, BlockSampler& sampler);

  const std::vector<GridCell>& cells() const { return cells_; }
  /// Of one block.
  const BlockWeights::Weight& weight_of(std::uint64_t block) const {
    return cell_of(index_of(block)).first().sums.weights.all;
  }
  void log_of(std::uint64_t block, TrafficLog& log) const;
  /// Takes in what all blocks touch.
  void add_touched(KindFilter wanted, ByteSet& touched) const;

 private:
  using Index = GridCell::Index;
  /// What is known of one axis.
  struct Axis {
    std::vector<std::uint64_t> bounds;  ///< where blocks' work changes, the grid's ends included
    std::uint64_t period = 1;
    std::vector<std::uint64_t> first_track;  ///< by stretch between bounds; last: their number
    void set_period(std::uint64_t blocks);
    std::uint64_t track_of(std::uint64_t position) const;
  };

  std::vector<std::uint64_t> bounds_along(std::size_t axis);
  bool follows_number(std::size_t axis, std::uint64_t first, std::uint64_t last);
  std::uint64_t period_along(std::size_t axis, std::uint64_t least);
  bool divide();
  bool check(std::uint64_t block);
  bool check_everywhere();
  Index index_of(std::uint64_t block) const;
  std::uint64_t block_at(const Index& index) const;
  const BlockProfile& on_axis(std::size_t axis, std::uint64_t position);
  const GridCell& cell_of(const Index& index) const;

  BlockSampler& sampler_;
  const Index grid_;
  std::array<Axis, 3> axes_;
  std::vector<GridCell> cells_;
};

}  // namespace simgpu
