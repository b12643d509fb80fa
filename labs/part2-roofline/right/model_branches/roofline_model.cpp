#include "roofline_model.h"

#include <algorithm>
#include <array>
#include <utility>

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

namespace {

struct Seconds {
  double arithmetic, traffic;
  double longest() const { return std::max(arithmetic, traffic); }
  bool arithmetic_counts() const { return arithmetic >= traffic; }
};

Seconds seconds_on(const Gpu& gpu, double flops, double bytes) {
  return {flops / gpu.flops_per_second, bytes / gpu.bytes_per_second};
}

}  // namespace

Gpu gpu_of(const DataSheet& sheet) {
  double tflops = sheet.tflops_per_second;
  if (sheet.with_sparsity) tflops /= 2;
  Gpu gpu;
  gpu.flops_per_second = tflops * 1e12;
  gpu.bytes_per_second = sheet.gb_per_second * 1e9;
  return gpu;
}

double ridge_point(const Gpu& gpu) { return gpu.flops_per_second / gpu.bytes_per_second; }

double attainable(const Gpu& gpu, double intensity) {
  if (bound(gpu, intensity) == Bound::compute) return gpu.flops_per_second;
  return intensity * gpu.bytes_per_second;
}

Bound bound(const Gpu& gpu, double intensity) {
  return intensity < ridge_point(gpu) ? Bound::memory : Bound::compute;
}

double least_seconds(const Gpu& gpu, const Cost& cost) {
  return seconds_on(gpu, static_cast<double>(cost.flops), static_cast<double>(cost.bytes))
      .longest();
}

double crossover_flops(const Gpu& gpu, std::int64_t inputs, std::int64_t bytes_per_element) {
  const std::int64_t bytes = bytes_per_element * inputs + bytes_per_element;
  return ridge_point(gpu) * static_cast<double>(bytes);
}

std::int64_t smallest_compute_bound_gemm(const Gpu& gpu, std::int64_t bytes_per_element) {
  const auto is_compute_bound = [&](std::int64_t n) {
    // 2 n^3 FLOPs over 3 n^2 elements: the squares cancel.
    const double intensity = 2.0 * static_cast<double>(n) / (3.0 * bytes_per_element);
    return bound(gpu, intensity) == Bound::compute;
  };
  std::int64_t above = 1;
  while (!is_compute_bound(above)) above *= 2;
  std::int64_t below = above / 2;  // memory-bound, or 0
  while (above - below > 1) {
    const std::int64_t middle = below + (above - below) / 2;
    (is_compute_bound(middle) ? above : below) = middle;
  }
  return above;
}

double attainable_warm(const GpuWithL2& gpu, const Cost& cost) {
  const bool stays = cost.bytes <= gpu.l2_bytes;
  Gpu seen = gpu.dram;
  if (stays) seen.bytes_per_second = gpu.l2_bytes_per_second;
  return attainable(seen, static_cast<double>(cost.flops) / static_cast<double>(cost.bytes));
}

Roof limiting_roof(const GpuWithL2& gpu, const Traffic& traffic) {
  const std::array<std::pair<double, Roof>, 3> roofs = {{
      {traffic.flops / gpu.dram.flops_per_second, Roof::compute},
      {traffic.l2_bytes / gpu.l2_bytes_per_second, Roof::l2},
      {traffic.dram_bytes / gpu.dram.bytes_per_second, Roof::dram},
  }};
  // max_element returns the first of equal ones.
  return std::max_element(roofs.begin(), roofs.end(),
                          [](const auto& a, const auto& b) { return a.first < b.first; })
      ->second;
}

Utilisation utilisation(const Gpu& gpu, const Run& run) {
  // The time that the work takes at a peak, over the time that it took.
  const Seconds least = seconds_on(gpu, run.needed.flops, run.needed.bytes);
  Utilisation shares;
  shares.model_flops = least.arithmetic / run.seconds;
  shares.hardware_flops = run.executed_flops / gpu.flops_per_second / run.seconds;
  shares.bandwidth = least.traffic / run.seconds;
  return shares;
}
