#include "simgpu/exec/grid_fold.h"

#include <algorithm>

#include "simgpu/exec/grid_cells.h"

namespace simgpu {
namespace {

/// Into rows of how many blocks a line of `size` can be folded, in order.
std::vector<std::uint64_t> row_sizes(std::uint64_t size) {
  std::vector<std::uint64_t> rows;
  for (std::uint64_t row = 2; row * row <= size; ++row) {
    if (size % row != 0) continue;
    rows.push_back(row);
    if (row * row != size) rows.push_back(size / row);
  }
  std::ranges::sort(rows);
  return rows;
}

}  // namespace

std::vector<Dim3> folded(const Dim3& grid, BlockSampler& sampler) {
  if (grid.y > 1 && grid.z > 1) return {};
  const std::uint64_t size = grid.x;
  const std::vector<std::uint64_t> rows = row_sizes(size);
  if (rows.empty()) return {};
  const GridCell line({0, 0, 0}, {size, 1, 1}, {1, 1, 1}, {size, 1, 1}, sampler);
  if (!line.is_uniform()) return {};
  // Within the first row all goes on as the first two blocks began, and behind it nothing does.
  const auto first = std::ranges::partition_point(rows, [&](std::uint64_t place) {
    return line.predicts({place, 0, 0}, sampler.profile(place));
  });
  std::vector<Dim3> shapes;
  for (auto row = first; row != rows.end(); ++row) {
    // The last tile of a row may be ragged, and be the one that was found.
    if (*row > *first + 1) break;
    const auto tiles = static_cast<std::uint32_t>(*row);
    shapes.push_back({tiles, grid.x / tiles, std::max(grid.y, grid.z)});
  }
  return shapes;
}

}  // namespace simgpu
