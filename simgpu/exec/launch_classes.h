#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/exec/block_sampler.h"

namespace simgpu {

/// Which blocks of a launch do as much as which others: all those with the same place, as of a
/// query tile among those of its head. Along the further axes (heads, batch) blocks are alike.
struct LaunchClasses {
  /// Blocks of one axis: number / stride % size is a block's position along it.
  struct Axis {
    std::uint64_t stride = 1, size = 1;
    std::uint64_t position(std::uint64_t block) const { return block / stride % size; }
  };
  Axis places;
  bool reversed = false;    ///< the last place has the least to do
  std::vector<Axis> alike;  ///< of more than one block each

  /// The block at the place that is `order`th from the end that has the least to do; the first one
  /// along all other axes.
  std::uint64_t block_at(std::uint64_t order) const {
    return (reversed ? places.size - 1 - order : order) * places.stride;
  }
  std::uint64_t order_of(std::uint64_t block) const {
    const std::uint64_t place = places.position(block);
    return reversed ? places.size - 1 - place : place;
  }
};

/// Finds the axis along which blocks do different work: one of the grid's, or a part of one, where
/// an index is tile + tiles * head or head + heads * tile. Runs few blocks, light ones where it
/// can.
/// @throws NotSampled when there is no such axis, LaunchFailure when a block fails
LaunchClasses find_classes(const Dim3& grid, BlockSampler& sampler);

}  // namespace simgpu
