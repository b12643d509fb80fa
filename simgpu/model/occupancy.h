#pragma once

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
};

struct Occupancy {
  unsigned blocks_per_sm = 0;  ///< 0 when one block does not fit
  std::string limiter;         ///< "registers", "shared memory", "warps", "blocks"
  double fraction = 0;         ///< resident warps over the SM's maximum
};

/// Blocks of this shape that fit on one SM (CUDA C++ Programming Guide, "Hardware Multithreading";
/// allocation granularity by compute capability).
Occupancy occupancy(const LaunchShape& shape, const gpu_spec::GpuSpec& gpu);

}  // namespace simgpu
