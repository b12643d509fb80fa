#include "simgpu/exec/grid_cells.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace simgpu {
namespace {

using Index = GridCell::Index;

constexpr std::size_t kMostBounds = 8;  ///< along one axis; more is another kind of kernel
/// Blocks that are run beyond those that the boxes need: one in so many, …
constexpr std::uint64_t kBlocksPerProbe = 64;
/// … at least and at most these, and at most so many warp instructions …
constexpr std::uint64_t kLeastProbes = 24, kMostProbes = 2048;
constexpr std::uint64_t kProbeInstructions = 4'000'000;
/// … and neighbours in the middle of the grid, where a pattern of a few blocks would show.
constexpr std::uint64_t kNeighbours = 9;

std::uint64_t number(const Index& index, const Index& grid) {
  return (index[2] * grid[1] + index[1]) * grid[0] + index[0];
}

}  // namespace

GridCell::GridCell(const Index& low, const Index& high, const Index& grid, BlockSampler& sampler)
    : low_(low), high_(high), grid_(grid), first_(&sampler.profile(number(low, grid))) {
  const std::vector<TrafficEntry>& entries = first_->log->entries;
  for (std::size_t axis = 0; axis < low.size(); ++axis) {
    if (high[axis] - low[axis] < 2) continue;
    Index next = low;
    ++next[axis];
    const BlockProfile& neighbour = sampler.profile(number(next, grid));
    if (!same_work(*first_, neighbour)) throw NotSampled{};
    steps_[axis].resize(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].kind == TrafficEntry::Kind::bytes) continue;
      steps_[axis][i] =
          static_cast<std::int64_t>(neighbour.log->entries[i].sector() - entries[i].sector());
    }
  }
}

bool GridCell::holds(const Index& block) const {
  for (std::size_t axis = 0; axis < block.size(); ++axis) {
    if (block[axis] < low_[axis] || block[axis] >= high_[axis]) return false;
  }
  return true;
}

std::uint64_t GridCell::blocks() const {
  std::uint64_t count = 1;
  for (std::size_t axis = 0; axis < low_.size(); ++axis) count *= high_[axis] - low_[axis];
  return count;
}

std::uint64_t GridCell::last_block() const {
  return number({high_[0] - 1, high_[1] - 1, high_[2] - 1}, grid_);
}

/// Sectors that an entry of the block lies behind the first block's.
std::int64_t GridCell::moved(std::size_t entry, const Index& block) const {
  std::int64_t sectors = 0;
  for (std::size_t axis = 0; axis < block.size(); ++axis) {
    if (steps_[axis].empty()) continue;
    sectors += steps_[axis][entry] * static_cast<std::int64_t>(block[axis] - low_[axis]);
  }
  return sectors;
}

bool GridCell::predicts(const Index& block, const BlockProfile& profile) const {
  if (!same_work(*first_, profile)) return false;
  const std::vector<TrafficEntry>& entries = first_->log->entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].kind == TrafficEntry::Kind::bytes) continue;
    const std::uint64_t predicted =
        entries[i].sector() + static_cast<std::uint64_t>(moved(i, block));
    if (profile.log->entries[i].sector() != predicted) return false;
  }
  return true;
}

void GridCell::log_of(const Index& block, TrafficLog& log) const {
  log.entries = first_->log->entries;
  for (std::size_t axis = 0; axis < block.size(); ++axis) {
    const auto distance = static_cast<std::int64_t>(block[axis] - low_[axis]);
    if (distance == 0) continue;
    const std::vector<std::int64_t>& steps = steps_[axis];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      TrafficEntry& entry = log.entries[i];
      if (entry.kind == TrafficEntry::Kind::bytes) continue;
      entry.set_sector(entry.sector() + static_cast<std::uint64_t>(steps[i] * distance));
    }
  }
}

GridCells::GridCells(const Dim3& grid, BlockSampler& sampler)
    : sampler_(sampler), grid_{grid.x, grid.y, grid.z} {
  std::array<std::vector<std::uint64_t>, 3> bounds;
  for (std::size_t axis = 0; axis < bounds.size(); ++axis) bounds[axis] = bounds_along(axis);
  for (std::size_t z = 0; z + 1 < bounds[2].size(); ++z) {
    for (std::size_t y = 0; y + 1 < bounds[1].size(); ++y) {
      for (std::size_t x = 0; x + 1 < bounds[0].size(); ++x) {
        cells_.emplace_back(Index{bounds[0][x], bounds[1][y], bounds[2][z]},
                            Index{bounds[0][x + 1], bounds[1][y + 1], bounds[2][z + 1]}, grid_,
                            sampler_);
      }
    }
  }
  for (const GridCell& cell : cells_) check(cell.last_block());

  const std::uint64_t blocks = grid.count();
  const std::uint64_t per_block =
      std::max<std::uint64_t>(sampler_.instructions() / sampler_.blocks_run(), 1);
  const std::uint64_t probes =
      std::clamp(std::min(blocks / kBlocksPerProbe, kProbeInstructions / per_block), kLeastProbes,
                 kMostProbes);
  for (std::uint64_t i = 1; i <= probes; ++i) {
    // Multiples of the golden ratio spread evenly, in step with no power of two.
    constexpr double kGoldenRatio = 0.6180339887498949;
    const double turns = static_cast<double>(i) * kGoldenRatio;
    const double place = (turns - std::floor(turns)) * static_cast<double>(blocks);
    check(std::min(static_cast<std::uint64_t>(place), blocks - 1));
  }
  for (std::uint64_t i = 0; i < std::min(kNeighbours, blocks); ++i) {
    check((blocks - std::min(kNeighbours, blocks)) / 2 + i);
  }
}

/// The places along an axis at which blocks' work changes, the grid's ends included.
std::vector<std::uint64_t> GridCells::bounds_along(std::size_t axis) {
  std::vector<std::uint64_t> bounds{0};
  const auto same = [&](std::uint64_t a, std::uint64_t b) {
    Index at{};
    at[axis] = a;
    const BlockProfile& one = sampler_.profile(block_at(at));
    at[axis] = b;
    return same_work(one, sampler_.profile(block_at(at)));
  };
  // What depends on the block's number by one comparison changes once, and is found by bisection.
  const std::function<void(std::uint64_t, std::uint64_t)> divide = [&](std::uint64_t first,
                                                                       std::uint64_t last) {
    if (first >= last || same(first, last)) return;
    if (last - first == 1) {
      bounds.push_back(last);
      if (bounds.size() > kMostBounds) throw NotSampled{};
      return;
    }
    const std::uint64_t middle = first + (last - first) / 2;
    divide(first, middle);
    divide(middle, last);
  };
  const std::uint64_t size = grid_[axis];
  // The first and the last block of a row are the likeliest to differ.
  const std::uint64_t second = std::min<std::uint64_t>(1, size - 1);
  const std::uint64_t last_but_one = std::max(second, size - std::min<std::uint64_t>(size, 2));
  divide(0, second);
  divide(second, last_but_one);
  divide(last_but_one, size - 1);
  bounds.push_back(size);
  return bounds;
}

void GridCells::check(std::uint64_t block) {
  const Index index = index_of(block);
  if (!cell_of(index).predicts(index, sampler_.profile(block))) throw NotSampled{};
}

Index GridCells::index_of(std::uint64_t block) const {
  return {block % grid_[0], block / grid_[0] % grid_[1], block / grid_[0] / grid_[1]};
}

std::uint64_t GridCells::block_at(const Index& index) const { return number(index, grid_); }

const GridCell& GridCells::cell_of(const Index& index) const {
  return *std::ranges::find_if(cells_, [&](const GridCell& cell) { return cell.holds(index); });
}

void GridCells::log_of(std::uint64_t block, TrafficLog& log) const {
  const Index index = index_of(block);
  cell_of(index).log_of(index, log);
}

}  // namespace simgpu
