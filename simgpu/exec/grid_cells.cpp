#include "simgpu/exec/grid_cells.h"

#include <algorithm>
#include <functional>
#include <map>

#include "simgpu/exec/kept_stores.h"
#include "simgpu/exec/secret_choice.h"

namespace simgpu {
namespace {

using Index = GridCell::Index;
using Kind = TrafficEntry::Kind;

constexpr std::size_t kMostBounds = 8;  ///< along one axis; more is another kind of kernel
constexpr std::uint64_t kLongestPeriod = GridCells::kLongPeriods.back();
constexpr std::uint64_t kMostCells = 1024;
/// Blocks that are run beyond those that the cells need: one in so many, …
constexpr std::uint64_t kBlocksPerProbe = 16;
/// … at least and at most these, and at most so many warp instructions …
constexpr std::uint64_t kLeastBlockProbes = 24, kMostBlockProbes = 4096;
constexpr std::uint64_t kBlockProbeInstructions = 4'000'000;
/// … and neighbours in the middle of the grid, where a pattern of a few blocks would show.
constexpr std::uint64_t kNeighbours = 9;

std::uint64_t number(const Index& index, const Index& grid) {
  return (index[2] * grid[1] + index[1]) * grid[0] + index[0];
}

}  // namespace

GridCell::GridCell(const Index& low, const Index& high, const Index& period, const Index& grid,
                   BlockSampler& sampler)
    : low_(low), high_(high), period_(period), first_(&sampler.profile(number(low, grid))) {
  const std::vector<TrafficEntry>& entries = first_->log->entries;
  for (std::size_t axis = 0; axis < low.size(); ++axis) {
    if (size(axis) < 2) continue;
    Index next = low;
    next[axis] += period[axis];
    const BlockProfile& neighbour = sampler.profile(number(next, grid));
    uniform_ = uniform_ && same_work(*first_, neighbour);
    if (!uniform_) return;
    steps_[axis].resize(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].kind == Kind::bytes) continue;
      steps_[axis][i] =
          static_cast<std::int64_t>(neighbour.log->entries[i].sector() - entries[i].sector());
    }
  }
}

std::uint64_t GridCell::blocks() const { return size(0) * size(1) * size(2); }

Index GridCell::last() const {
  Index index = low_;
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    index[axis] += (size(axis) - 1) * period_[axis];
  }
  return index;
}

bool GridCell::predicts(const Index& block, const BlockProfile& profile) const {
  if (!same_work(*first_, profile)) return false;
  TrafficLog log;
  log_of(block, log);
  return std::ranges::equal(log.entries, profile.log->entries,
                            [](const TrafficEntry& a, const TrafficEntry& b) {
                              return a.kind == Kind::bytes || a.sector() == b.sector();
                            });
}

void GridCell::log_of(const Index& block, TrafficLog& log) const {
  log.entries = first_->log->entries;
  for (std::size_t axis = 0; axis < block.size(); ++axis) {
    const auto distance = static_cast<std::int64_t>((block[axis] - low_[axis]) / period_[axis]);
    if (distance == 0) continue;
    const std::vector<std::int64_t>& steps = steps_[axis];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      TrafficEntry& entry = log.entries[i];
      if (entry.kind == Kind::bytes) continue;
      entry.set_sector(entry.sector() + static_cast<std::uint64_t>(steps[i] * distance));
    }
  }
}

GridCell::Steps GridCell::steps_of(std::size_t entry) const {
  Steps steps{};
  for (std::size_t axis = 0; axis < steps.size(); ++axis) {
    if (!steps_[axis].empty()) steps[axis] = steps_[axis][entry];
  }
  return steps;
}

/// What moves by the same steps is put together first: mostly that is a few stretches of memory.
void GridCell::add_touched(KindFilter wanted, ByteSet& touched) const {
  const TrafficLog& log = *first_->log;
  if (log.unlogged_reads + log.unlogged_writes != 0) touched.give_up();
  std::map<Steps, TrafficLog> by_steps;
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    if (log.entries[i].kind == Kind::bytes || !wanted(log.entries[i].kind)) continue;
    std::vector<TrafficEntry>& entries = by_steps[steps_of(i)].entries;
    entries.push_back(log.entries[i]);
    if (log.narrowed_bytes(i) != 0) entries.push_back(log.entries[i + 1]);
  }
  for (const auto& [steps, entries] : by_steps) {
    // Along an axis without a step all blocks touch the same.
    const auto places = [&](std::size_t axis) { return steps[axis] == 0 ? 1 : size(axis); };
    for (const ByteRange& range : touched_bytes(entries, wanted)) {
      ByteRange run;  // what neighbours touch side by side
      for (std::uint64_t z = 0; z < places(2); ++z) {
        for (std::uint64_t y = 0; y < places(1); ++y) {
          for (std::uint64_t x = 0; x < places(0); ++x) {
            // Modulo 2^64, as negative steps are.
            const std::uint64_t sectors = x * static_cast<std::uint64_t>(steps[0]) +
                                          y * static_cast<std::uint64_t>(steps[1]) +
                                          z * static_cast<std::uint64_t>(steps[2]);
            const std::uint64_t address = range.address + sectors * kSectorBytes;
            if (address != run.address + run.bytes) {
              touched.add(run);
              run = {address, 0};
            }
            run.bytes += range.bytes;
          }
        }
      }
      touched.add(run);
    }
  }
}

GridCells::GridCells(const Dim3& grid, std::uint64_t least_period, BlockSampler& sampler)
    : sampler_(sampler), grid_{grid.x, grid.y, grid.z} {
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    axes_[axis].bounds = bounds_along(axis);
    axes_[axis].set_period(period_along(axis, least_period));
  }
  if (!divide() || !check_everywhere()) throw NotSampled{};
}

/// The places along an axis at which blocks' work changes, the grid's ends included.
std::vector<std::uint64_t> GridCells::bounds_along(std::size_t axis) {
  std::vector<std::uint64_t> bounds{0};
  // What depends on the block's number by one comparison changes once, and is found by bisection.
  const std::function<void(std::uint64_t, std::uint64_t)> search = [&](std::uint64_t first,
                                                                       std::uint64_t last) {
    if (first >= last || same_instructions(on_axis(axis, first), on_axis(axis, last))) return;
    if (last - first == 1) {
      bounds.push_back(last);
      if (bounds.size() > kMostBounds) throw NotSampled{};
      return;
    }
    const std::uint64_t middle = first + (last - first) / 2;
    search(first, middle);
    search(middle, last);
  };
  const std::uint64_t size = grid_[axis];
  // The first and the last block of a row are the likeliest to differ.
  const std::uint64_t second = std::min<std::uint64_t>(1, size - 1);
  const std::uint64_t last_but_one = std::max(second, size - std::min<std::uint64_t>(size, 2));
  if (follows_number(axis, second, last_but_one)) throw NotSampled{};
  search(0, second);
  search(second, last_but_one);
  search(last_but_one, size - 1);
  bounds.push_back(size);
  return bounds;
}

/// Whether work changes all along an axis, as far as three blocks tell.
bool GridCells::follows_number(std::size_t axis, std::uint64_t first, std::uint64_t last) {
  if (last - first < kMostBounds) return false;
  const BlockProfile& a = on_axis(axis, first);
  const BlockProfile& b = on_axis(axis, first + (last - first) / 2);
  const BlockProfile& c = on_axis(axis, last);
  return !same_instructions(a, b) && !same_instructions(b, c) && !same_instructions(a, c);
}

/// Blocks along an axis after which requests meet cache lines as before, `least` or more.
std::uint64_t GridCells::period_along(std::size_t axis, std::uint64_t least) {
  const std::vector<std::uint64_t>& bounds = axes_[axis].bounds;
  std::size_t longest = 0;
  for (std::size_t i = 1; i + 1 < bounds.size(); ++i) {
    if (bounds[i + 1] - bounds[i] > bounds[longest + 1] - bounds[longest]) longest = i;
  }
  const std::uint64_t first = bounds[longest];
  const std::uint64_t length = bounds[longest + 1] - first;
  for (std::uint64_t period = least; period < std::min(length, kLongestPeriod); period *= 2) {
    if (same_work(on_axis(axis, first), on_axis(axis, first + period))) return period;
  }
  return kLongestPeriod;
}

void GridCells::Axis::set_period(std::uint64_t blocks) {
  period = blocks;
  first_track = {0};
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    first_track.push_back(first_track.back() + std::min(period, bounds[i + 1] - bounds[i]));
  }
}

/// Blocks of a track are `period` apart, in one stretch between bounds.
std::uint64_t GridCells::Axis::track_of(std::uint64_t position) const {
  const auto after = std::ranges::upper_bound(bounds, position);
  const auto stretch = static_cast<std::size_t>(after - bounds.begin()) - 1;
  return first_track[stretch] + (position - bounds[stretch]) % period;
}

/// Makes the cells, one for each combination of tracks; false when one does not predict its last.
bool GridCells::divide() {
  const std::uint64_t count =
      axes_[0].first_track.back() * axes_[1].first_track.back() * axes_[2].first_track.back();
  if (count > kMostCells || count * 8 > grid_[0] * grid_[1] * grid_[2]) throw NotSampled{};
  struct Track {
    std::uint64_t low, high;
  };
  std::array<std::vector<Track>, 3> tracks;
  for (std::size_t axis = 0; axis < tracks.size(); ++axis) {
    const Axis& of = axes_[axis];
    for (std::size_t i = 0; i + 1 < of.bounds.size(); ++i) {
      for (std::uint64_t k = 0; k < of.first_track[i + 1] - of.first_track[i]; ++k) {
        tracks[axis].push_back({of.bounds[i] + k, of.bounds[i + 1]});
      }
    }
  }
  const Index period{axes_[0].period, axes_[1].period, axes_[2].period};
  cells_.clear();
  for (const Track& z : tracks[2]) {
    for (const Track& y : tracks[1]) {
      for (const Track& x : tracks[0]) {
        const GridCell& cell = cells_.emplace_back(
            Index{x.low, y.low, z.low}, Index{x.high, y.high, z.high}, period, grid_, sampler_);
        if (!cell.is_uniform()) return false;
        const Index last = cell.last();
        if (!cell.predicts(last, sampler_.profile(block_at(last)))) return false;
      }
    }
  }
  return true;
}

bool GridCells::check_everywhere() {
  const std::uint64_t blocks = grid_[0] * grid_[1] * grid_[2];
  const std::uint64_t neighbours = std::min(kNeighbours, blocks);
  for (std::uint64_t i = 0; i < neighbours; ++i) {
    if (!check((blocks - neighbours) / 2 + i)) return false;
  }
  const std::uint64_t per_block =
      std::max<std::uint64_t>(sampler_.instructions() / sampler_.blocks_run(), 1);
  const std::uint64_t probes =
      std::clamp(std::min(blocks / kBlocksPerProbe, kBlockProbeInstructions / per_block),
                 kLeastBlockProbes, kMostBlockProbes);
  for (std::uint64_t i = 1; i <= probes; ++i) {
    if (!check(spread_place(sampler_.secret(), i, blocks))) return false;
  }
  return true;
}

bool GridCells::check(std::uint64_t block) {
  const Index index = index_of(block);
  return cell_of(index).predicts(index, sampler_.profile(block));
}

Index GridCells::index_of(std::uint64_t block) const {
  return {block % grid_[0], block / grid_[0] % grid_[1], block / grid_[0] / grid_[1]};
}

std::uint64_t GridCells::block_at(const Index& index) const { return number(index, grid_); }

const BlockProfile& GridCells::on_axis(std::size_t axis, std::uint64_t position) {
  Index index{};
  index[axis] = position;
  return sampler_.profile(block_at(index));
}

const GridCell& GridCells::cell_of(const Index& index) const {
  std::uint64_t cell = 0;
  for (std::size_t axis = index.size(); axis-- > 0;) {
    cell = cell * axes_[axis].first_track.back() + axes_[axis].track_of(index[axis]);
  }
  return cells_[cell];
}

void GridCells::add_touched(KindFilter wanted, ByteSet& touched) const {
  for (const GridCell& cell : cells_) cell.add_touched(wanted, touched);
}

void GridCells::log_of(std::uint64_t block, TrafficLog& log) const {
  const Index index = index_of(block);
  cell_of(index).log_of(index, log);
}

}  // namespace simgpu
