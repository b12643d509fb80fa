#include "grader/pipeline/counts.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/pipeline/roofline.h"
#include "grader/pipeline/score.h"

namespace rooflab {
namespace {

bool has_all_records(const simgpu::Activity& activity) {
  return std::max(activity.kernels.size(), activity.memory.size()) < simgpu::kMostRecords;
}

/// @param unit of the target, in what is counted
Counted counted(const std::optional<CountTarget>& target, double unit, const RunOutcome& outcome,
                double count, double share_of_time) {
  Counted result;
  if (outcome.keeps_records) result.count = count;
  if (!target) return result;
  result.max_points = target->points;
  if (!outcome.keeps_records) {
    result.points = rounded_points(target->points * share_of_time);
    return result;
  }
  result.full = target->full * unit;
  if (has_all_records(outcome.activity)) result.points = count_points(*target, count / unit);
  return result;
}

}  // namespace

double dram_bytes(const simgpu::Activity& activity) {
  double bytes = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    bytes += static_cast<double>(kernel.counters.dram_read_bytes) +
             static_cast<double>(kernel.counters.dram_write_bytes);
  }
  for (const simgpu::MemoryRecord& record : activity.memory) {
    const double crossings = record.operation == simgpu::MemoryOperation::copy_on_device ? 2 : 1;
    bytes += crossings * static_cast<double>(record.bytes);
  }
  return bytes;
}

void add_counts(const RunOutcome& outcome, const SpeedSpec& speed, Timing& timing) {
  const double share = speed_share(speed, timing.efficiency);
  const simgpu::Activity& activity = outcome.activity;
  timing.kernels = activity.kernels.size();
  timing.launches = counted(speed.launches, 1, outcome,
                            static_cast<double>(simgpu::host_launches(activity)), share);
  if (speed.bytes && !(timing.bytes > 0)) {
    throw RooflineError(
        fmt::format("timed case \"{}\" gives points for its bytes, and its oracle's work has none",
                    speed.name));
  }
  timing.dram_bytes = counted(speed.bytes, timing.bytes, outcome, dram_bytes(activity), share);
}

std::optional<std::uint64_t> peak_memory(const RunOutcome& outcome, const Problem& problem) {
  if (!outcome.keeps_records) return std::nullopt;
  std::uint64_t own = 0;
  for (const Tensor& tensor : problem.tensors) {
    own += std::max<std::uint64_t>(tensor.bytes(), 1);  // as a device places it
  }
  return outcome.activity.peak_allocated - std::min(own, outcome.activity.peak_allocated);
}

}  // namespace rooflab
