#include "grader/pipeline/roofline.h"

#include <fmt/format.h>

#include <algorithm>

namespace rooflab {
namespace {

constexpr double kMicrosecondsPerSecond = 1e6;

/// The slowest type's FLOPs, at the peaks as they stand.
double compute_us(const Work& work, const gpu_spec::GpuSpec& gpu) {
  double slowest_us = 0;
  for (const auto& [type, flops] : work.flops) {
    const auto peak = gpu.peak_flops.find(type);
    if (peak == gpu.peak_flops.end()) {
      throw RooflineError(
          fmt::format("{} has no {} peak; grade this task on another GPU", gpu.name, type));
    }
    slowest_us = std::max(slowest_us, flops / peak->second * kMicrosecondsPerSecond);
  }
  return slowest_us;
}

/// All FLOPs at the fastest peak that either has.
double fastest_compute_us(const Work& work, const gpu_spec::GpuSpec& gpu,
                          const gpu_spec::GpuSpec& peaks) {
  double fastest = 0;
  for (const auto* specification : {&gpu, &peaks}) {
    for (const auto& [type, peak] : specification->peak_flops) fastest = std::max(fastest, peak);
  }
  return fastest > 0 ? total_flops(work) / fastest * kMicrosecondsPerSecond : 0;
}

double transfer_us(double bytes, double bytes_per_second) {
  return bytes_per_second > 0 ? bytes / bytes_per_second * kMicrosecondsPerSecond : 0;
}

}  // namespace

Roofline roofline_of(const Work& work, const gpu_spec::GpuSpec& gpu,
                     const gpu_spec::GpuSpec& peaks) {
  Roofline roofline;
  // The floor takes the boost clock: a short run on a cool card reaches it.
  const double at_boost_us = std::min(compute_us(work, gpu), compute_us(work, peaks));
  roofline.compute_us = compute_us(work, peaks) * peaks.slowdown_under_load();
  roofline.memory_us = transfer_us(work.compulsory_bytes, peaks.dram_bytes_per_second);
  roofline.launch_us = peaks.launch_overhead_us;
  const double work_us = std::max(roofline.compute_us, roofline.memory_us);
  roofline.time_us = work_us + roofline.launch_us;

  // Bytes that the L2 can hold may never reach DRAM: inputs may be resident from before, outputs
  // may not be written back within the measured time.
  const double resident = std::min(work.compulsory_bytes, static_cast<double>(gpu.l2_bytes));
  const double from_dram_us =
      transfer_us(work.compulsory_bytes - resident,
                  std::max(gpu.dram_bytes_per_second, peaks.dram_bytes_per_second));
  const double from_l2_us = transfer_us(
      work.compulsory_bytes, std::max(gpu.l2_bytes_per_second, peaks.l2_bytes_per_second));
  roofline.floor_us = std::max({at_boost_us, from_dram_us, from_l2_us});
  roofline.lowest_floor_us = std::max(
      {std::min(at_boost_us, fastest_compute_us(work, gpu, peaks)), from_dram_us, from_l2_us});

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
