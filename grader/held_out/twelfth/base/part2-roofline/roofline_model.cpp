#include "roofline_model.h"

#include <algorithm>
#include <array>
#include <cmath>

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

Gpu gpu_of(const DataSheet& sheet) {
  Gpu gpu{.flops_per_second = 1e12 * sheet.tflops_per_second,
          .bytes_per_second = 1e9 * sheet.gb_per_second};
  if (sheet.with_sparsity) gpu.flops_per_second /= 2;
  return gpu;
}

double ridge_point(const Gpu& gpu) { return gpu.flops_per_second / gpu.bytes_per_second; }

double attainable(const Gpu& gpu, double intensity) {
  const double fed = intensity * gpu.bytes_per_second;
  return fed < gpu.flops_per_second ? fed : gpu.flops_per_second;
}

Bound bound(const Gpu& gpu, double intensity) {
  return intensity < ridge_point(gpu) ? Bound::memory : Bound::compute;
}

double least_seconds(const Gpu& gpu, const Cost& cost) {
  return std::max(cost.flops / gpu.flops_per_second, cost.bytes / gpu.bytes_per_second);
}

double crossover_flops(const Gpu& gpu, std::int64_t inputs, std::int64_t bytes_per_element) {
  const std::int64_t arrays = inputs + 1;
  return ridge_point(gpu) * static_cast<double>(arrays * bytes_per_element);
}

std::int64_t smallest_compute_bound_gemm(const Gpu& gpu, std::int64_t bytes_per_element) {
  // 2 N^3 FLOPs over 3 N^2 elements.
  const auto enough = [&](std::int64_t n) {
    return 2.0 * n / (3.0 * bytes_per_element) >= ridge_point(gpu);
  };
  auto n = static_cast<std::int64_t>(std::ceil(ridge_point(gpu) * 1.5 * bytes_per_element));
  while (!enough(n)) ++n;
  while (n > 1 && enough(n - 1)) --n;
  return n;
}

double attainable_warm(const GpuWithL2& gpu, const Cost& cost) {
  Gpu second = gpu.dram;
  if (cost.bytes <= gpu.l2_bytes) second.bytes_per_second = gpu.l2_bytes_per_second;
  return attainable(second, static_cast<double>(cost.flops) / cost.bytes);
}

Roof limiting_roof(const GpuWithL2& gpu, const Traffic& traffic) {
  const std::array<double, 3> seconds = {traffic.flops / gpu.dram.flops_per_second,
                                         traffic.l2_bytes / gpu.l2_bytes_per_second,
                                         traffic.dram_bytes / gpu.dram.bytes_per_second};
  const auto longest = std::max_element(seconds.begin(), seconds.end());  // the first of equal ones
  return static_cast<Roof>(longest - seconds.begin());
}

Utilisation utilisation(const Gpu& gpu, const Run& run) {
  const auto share = [&](std::int64_t count, double peak) { return count / run.seconds / peak; };
  return {.model_flops = share(run.needed.flops, gpu.flops_per_second),
          .hardware_flops = share(run.executed_flops, gpu.flops_per_second),
          .bandwidth = share(run.needed.bytes, gpu.bytes_per_second)};
}
