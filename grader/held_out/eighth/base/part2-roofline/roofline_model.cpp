#include "roofline_model.h"

#include <algorithm>
#include <cmath>

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

namespace {
constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
}  // namespace

Gpu gpu_of(const DataSheet& sheet) {
  Gpu gpu;
  gpu.flops_per_second = sheet.tflops_per_second * kTera;
  if (sheet.with_sparsity) gpu.flops_per_second /= 2;
  gpu.bytes_per_second = sheet.gb_per_second * kGiga;
  return gpu;
}

double ridge_point(const Gpu& gpu) { return gpu.flops_per_second / gpu.bytes_per_second; }

double attainable(const Gpu& gpu, double intensity) {
  const double slanted = intensity * gpu.bytes_per_second;
  return std::min(slanted, gpu.flops_per_second);
}

Bound bound(const Gpu& gpu, double intensity) {
  if (intensity < ridge_point(gpu)) return Bound::memory;
  return Bound::compute;
}

double least_seconds(const Gpu& gpu, const Cost& cost) {
  const double computing = cost.flops / gpu.flops_per_second;
  const double moving = cost.bytes / gpu.bytes_per_second;
  return std::max(computing, moving);
}

double crossover_flops(const Gpu& gpu, std::int64_t inputs, std::int64_t bytes_per_element) {
  const std::int64_t bytes = (inputs + 1) * bytes_per_element;
  return ridge_point(gpu) * static_cast<double>(bytes);
}

// 2 N^3 FLOPs over 3 N^2 elements: the intensity is 2 N / (3 bytes_per_element).
std::int64_t smallest_compute_bound_gemm(const Gpu& gpu, std::int64_t bytes_per_element) {
  const auto intensity = [&](std::int64_t n) {
    return 2.0 * static_cast<double>(n) / static_cast<double>(3 * bytes_per_element);
  };
  const double estimate = ridge_point(gpu) * 3.0 * static_cast<double>(bytes_per_element) / 2.0;
  std::int64_t n = std::max<std::int64_t>(1, static_cast<std::int64_t>(estimate) - 2);
  while (bound(gpu, intensity(n)) == Bound::memory) ++n;
  return n;
}

double attainable_warm(const GpuWithL2& gpu, const Cost& cost) {
  const double intensity = static_cast<double>(cost.flops) / static_cast<double>(cost.bytes);
  Gpu warm = gpu.dram;
  if (cost.bytes <= gpu.l2_bytes) warm.bytes_per_second = gpu.l2_bytes_per_second;
  return attainable(warm, intensity);
}

Roof limiting_roof(const GpuWithL2& gpu, const Traffic& traffic) {
  const double compute = traffic.flops / gpu.dram.flops_per_second;
  const double l2 = traffic.l2_bytes / gpu.l2_bytes_per_second;
  const double dram = traffic.dram_bytes / gpu.dram.bytes_per_second;
  if (compute >= l2 && compute >= dram) return Roof::compute;
  return l2 >= dram ? Roof::l2 : Roof::dram;
}

Utilisation utilisation(const Gpu& gpu, const Run& run) {
  const auto share = [&](std::int64_t amount, double peak) {
    return static_cast<double>(amount) / run.seconds / peak;
  };
  Utilisation result;
  result.model_flops = share(run.needed.flops, gpu.flops_per_second);
  result.hardware_flops = share(run.executed_flops, gpu.flops_per_second);
  result.bandwidth = share(run.needed.bytes, gpu.bytes_per_second);
  return result;
}
