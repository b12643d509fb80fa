#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simgpu/exec/instruction_info.h"
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

/// Predicts the time of a launch from its counters: the largest of the limiters' terms, joined with
/// the latency term, plus launch overhead. Terms of what lies inside an SM are those of the busiest
/// SM, so that wave quantisation (its blocks over the mean) is in them. docs/design/time-model.md
/// derives each.
/// @param program  the kernel's instructions
/// @param executed how often each was executed, in total over the launch; same length as `program`
TimeBreakdown predict_time(const KernelCounters& counters, const LaunchShape& shape,
                           std::span<const InstructionInfo> program,
                           std::span<const ExecutionCount> executed, const gpu_spec::GpuSpec& gpu);

}  // namespace simgpu
