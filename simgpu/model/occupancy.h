#pragma once

#include <cstdint>
#include <string>

#include "simgpu/report.h"
#include "specs/gpu_spec.h"

namespace simgpu {

/// The shape of a launch, for occupancy.
struct LaunchShape {
  Dim3 grid, block;
  unsigned registers_per_thread = 0;
  unsigned static_shared_bytes = 0;
  unsigned dynamic_shared_bytes = 0;
  bool operator==(const LaunchShape&) const = default;
};

struct Occupancy {
  unsigned blocks_per_sm = 0;  ///< 0 when one block does not fit
  OccupancyLimiter limiter = OccupancyLimiter::none;
  double fraction = 0;  ///< resident warps over the SM's maximum
};

/// Blocks of this shape that fit on one SM (CUDA C++ Programming Guide, "Hardware Multithreading";
/// allocation granularity by compute capability).
Occupancy occupancy(const LaunchShape& shape, const gpu_spec::GpuSpec& gpu);

/// Bytes of an SM that are left for L1 beside the shared memory of so many blocks of this shape,
/// which the driver carves out in steps.
std::uint64_t l1_bytes_beside(const LaunchShape& shape, std::uint64_t resident_blocks,
                              const gpu_spec::GpuSpec& gpu);

}  // namespace simgpu
