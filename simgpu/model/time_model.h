#pragma once

#include "simgpu/model/busy_time.h"
#include "simgpu/model/occupancy.h"
#include "simgpu/model/work.h"
#include "simgpu/report.h"
#include "specs/gpu_spec.h"

namespace simgpu {

/// Predicts the time of a launch from its counters: the largest of the limiters' terms, joined with
/// the latency term, plus launch overhead. Terms of what lies inside an SM are those of the busiest
/// SM, so that wave quantisation (its blocks over the mean) is in them. docs/design/time-model.md
/// derives each.
TimeBreakdown predict_time(const KernelCounters& counters, const LaunchShape& shape,
                           const ExecutedProgram& program, const gpu_spec::GpuSpec& gpu);

/// The same, with what it is due to.
struct PredictedTime {
  TimeBreakdown time;
  model::BusyTime busy;                  ///< that time, without the launch
  bool waits_for_longest_block = false;  ///< its latency is that of one block
};
PredictedTime predict(const model::Work& work);
/// The same launch, so many times as busy.
PredictedTime slowed_down(PredictedTime predicted, double factor);

/// The blocks of the busiest SM over the mean of all SMs: how much longer the launch takes for it.
double wave_quantisation(const LaunchShape& shape, const gpu_spec::GpuSpec& gpu);

/// What the launch adds, in microseconds, to the time of a GPU that is full of blocks like its own:
/// a whole grid's time without its launch and its unfinished last wave, and in proportion to the
/// blocks, so that a grid in pieces takes as much of the GPU as it does in one. Parameters are
/// those of predict_time().
double device_time_us(const KernelCounters& counters, const LaunchShape& shape,
                      const ExecutedProgram& program, const gpu_spec::GpuSpec& gpu);

}  // namespace simgpu
