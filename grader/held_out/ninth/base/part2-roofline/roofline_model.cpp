#include "roofline_model.h"

#include <algorithm>
#include <cmath>

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

Gpu gpu_of(const DataSheet& sheet) {
  Gpu gpu;
  gpu.flops_per_second = sheet.tflops_per_second * 1e12;
  if (sheet.with_sparsity) gpu.flops_per_second /= 2;
  gpu.bytes_per_second = sheet.gb_per_second * 1e9;
  return gpu;
}

double ridge_point(const Gpu& gpu) { return gpu.flops_per_second / gpu.bytes_per_second; }

double attainable(const Gpu& gpu, double intensity) {
  return std::min(gpu.flops_per_second, gpu.bytes_per_second * intensity);
}

Bound bound(const Gpu& gpu, double intensity) {
  return intensity >= ridge_point(gpu) ? Bound::compute : Bound::memory;
}

double least_seconds(const Gpu& gpu, const Cost& cost) {
  const double arithmetic = cost.flops / gpu.flops_per_second;
  const double moving = cost.bytes / gpu.bytes_per_second;
  return std::max(arithmetic, moving);
}

double crossover_flops(const Gpu& gpu, std::int64_t inputs, std::int64_t bytes_per_element) {
  const double bytes = static_cast<double>((inputs + 1) * bytes_per_element);
  return bytes * ridge_point(gpu);
}

// 2 N^3 FLOPs over 3 N^2 elements: the intensity is 2 N / (3 bytes).
std::int64_t smallest_compute_bound_gemm(const Gpu& gpu, std::int64_t bytes_per_element) {
  const double ridge = ridge_point(gpu);
  auto n = static_cast<std::int64_t>(std::ceil(ridge * 3 * bytes_per_element / 2));
  n = std::max<std::int64_t>(n - 2, 1);
  while (2.0 * n < ridge * 3 * bytes_per_element) ++n;
  return n;
}

double attainable_warm(const GpuWithL2& gpu, const Cost& cost) {
  const bool fits = cost.bytes <= gpu.l2_bytes;
  const double intensity = static_cast<double>(cost.flops) / cost.bytes;
  const double bandwidth = fits ? gpu.l2_bytes_per_second : gpu.dram.bytes_per_second;
  return std::min(gpu.dram.flops_per_second, intensity * bandwidth);
}

Roof limiting_roof(const GpuWithL2& gpu, const Traffic& traffic) {
  const double seconds[3] = {traffic.flops / gpu.dram.flops_per_second,
                             traffic.l2_bytes / gpu.l2_bytes_per_second,
                             traffic.dram_bytes / gpu.dram.bytes_per_second};
  const Roof names[3] = {Roof::compute, Roof::l2, Roof::dram};
  int worst = 0;
  for (int i = 1; i < 3; ++i) {
    if (seconds[i] > seconds[worst]) worst = i;
  }
  return names[worst];
}

Utilisation utilisation(const Gpu& gpu, const Run& run) {
  Utilisation u;
  u.model_flops = run.needed.flops / run.seconds / gpu.flops_per_second;
  u.hardware_flops = run.executed_flops / run.seconds / gpu.flops_per_second;
  u.bandwidth = run.needed.bytes / run.seconds / gpu.bytes_per_second;
  return u;
}
