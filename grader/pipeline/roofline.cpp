#include "grader/pipeline/roofline.h"

#include <fmt/format.h>

#include <algorithm>

namespace rooflab {
namespace {

constexpr double kMicrosecondsPerSecond = 1e6;

}  // namespace

Roofline roofline_of(const Work& work, const gpu_spec::GpuSpec& gpu) {
  Roofline roofline;
  for (const auto& [type, flops] : work.flops) {
    const auto peak = gpu.peak_flops.find(type);
    if (peak == gpu.peak_flops.end()) {
      throw RooflineError(
          fmt::format("{} has no {} peak; grade this task on another GPU", gpu.name, type));
    }
    roofline.compute_us =
        std::max(roofline.compute_us, flops / peak->second * kMicrosecondsPerSecond);
  }
  // The floor takes the boost clock: a short run on a cool card reaches it.
  const double at_boost_us = roofline.compute_us;
  roofline.compute_us *= gpu.slowdown_under_load();
  roofline.memory_us = work.compulsory_bytes / gpu.dram_bytes_per_second * kMicrosecondsPerSecond;
  roofline.launch_us = gpu.launch_overhead_us;
  const double work_us = std::max(roofline.compute_us, roofline.memory_us);
  roofline.time_us = work_us + roofline.launch_us;

  // Bytes that the L2 can hold may never reach DRAM: inputs may be resident from before, outputs
  // may not be written back within the measured time.
  const double resident = std::min(work.compulsory_bytes, static_cast<double>(gpu.l2_bytes));
  const double from_dram_us =
      (work.compulsory_bytes - resident) / gpu.dram_bytes_per_second * kMicrosecondsPerSecond;
  const double from_l2_us =
      gpu.l2_bytes_per_second > 0
          ? work.compulsory_bytes / gpu.l2_bytes_per_second * kMicrosecondsPerSecond
          : 0;
  roofline.floor_us = std::max({at_boost_us, from_dram_us, from_l2_us});

  roofline.bound = roofline.launch_us > work_us               ? "launch"
                   : roofline.compute_us > roofline.memory_us ? "compute"
                                                              : "memory";
  return roofline;
}

double total_flops(const Work& work) {
  double sum = 0;
  for (const auto& [type, flops] : work.flops) sum += flops;
  return sum;
}

}  // namespace rooflab
