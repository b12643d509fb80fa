#include "roofline_model.h"

#include <algorithm>
#include <cmath>

using namespace rooflab;

Gpu gpu_of(const DataSheet& sheet) {
  double tera = sheet.tflops_per_second;
  if (sheet.with_sparsity) tera *= 0.5;
  return Gpu{tera * 1e12, sheet.gb_per_second * 1e9};
}

double ridge_point(const Gpu& gpu) { return gpu.flops_per_second / gpu.bytes_per_second; }

double attainable(const Gpu& gpu, double intensity) {
  const double fed = gpu.bytes_per_second * intensity;
  return fed < gpu.flops_per_second ? fed : gpu.flops_per_second;
}

Bound bound(const Gpu& gpu, double intensity) {
  if (intensity < ridge_point(gpu)) return Bound::memory;
  return Bound::compute;
}

double least_seconds(const Gpu& gpu, const Cost& cost) {
  const double arithmetic = cost.flops / gpu.flops_per_second;
  const double traffic = cost.bytes / gpu.bytes_per_second;
  return std::max(arithmetic, traffic);
}

double crossover_flops(const Gpu& gpu, std::int64_t inputs, std::int64_t bytes_per_element) {
  const std::int64_t bytes = (inputs + 1) * bytes_per_element;
  return ridge_point(gpu) * bytes;
}

std::int64_t smallest_compute_bound_gemm(const Gpu& gpu, std::int64_t bytes_per_element) {
  // 2 N^3 / peak >= 3 N^2 b / bandwidth
  auto enough = [&](std::int64_t n) {
    return 2.0 * n * gpu.bytes_per_second >= 3.0 * bytes_per_element * gpu.flops_per_second;
  };
  std::int64_t n = 1;
  while (!enough(n)) n++;
  return n;
}

double attainable_warm(const GpuWithL2& gpu, const Cost& cost) {
  Gpu seen = gpu.dram;
  if (cost.bytes <= gpu.l2_bytes) seen.bytes_per_second = gpu.l2_bytes_per_second;
  return attainable(seen, static_cast<double>(cost.flops) / cost.bytes);
}

Roof limiting_roof(const GpuWithL2& gpu, const Traffic& traffic) {
  const double times[3] = {traffic.flops / gpu.dram.flops_per_second,
                           traffic.l2_bytes / gpu.l2_bytes_per_second,
                           traffic.dram_bytes / gpu.dram.bytes_per_second};
  const Roof roofs[3] = {Roof::compute, Roof::l2, Roof::dram};
  int longest = 0;
  for (int i = 1; i < 3; ++i) {
    if (times[i] > times[longest]) longest = i;
  }
  return roofs[longest];
}

Utilisation utilisation(const Gpu& gpu, const Run& run) {
  Utilisation u;
  const double peak_flops = gpu.flops_per_second * run.seconds;
  const double peak_bytes = gpu.bytes_per_second * run.seconds;
  u.model_flops = run.needed.flops / peak_flops;
  u.hardware_flops = run.executed_flops / peak_flops;
  u.bandwidth = run.needed.bytes / peak_bytes;
  return u;
}
