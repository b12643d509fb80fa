#include "roofline_model.h"

#include <algorithm>
#include <cmath>

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;

// The lower of the flat roof and the slanted one.
double under_both(double flat, double slope, double intensity) {
  const double slanted = slope * intensity;
  return slanted < flat ? slanted : flat;
}

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
  return under_both(gpu.flops_per_second, gpu.bytes_per_second, intensity);
}

Bound bound(const Gpu& gpu, double intensity) {
  return intensity >= ridge_point(gpu) ? Bound::compute : Bound::memory;
}

double least_seconds(const Gpu& gpu, const Cost& cost) {
  const double arithmetic = cost.flops / gpu.flops_per_second;
  const double transfer = cost.bytes / gpu.bytes_per_second;
  return std::max(arithmetic, transfer);
}

double crossover_flops(const Gpu& gpu, std::int64_t inputs, std::int64_t bytes_per_element) {
  const std::int64_t moved = (inputs + 1) * bytes_per_element;
  return moved * ridge_point(gpu);
}

std::int64_t smallest_compute_bound_gemm(const Gpu& gpu, std::int64_t bytes_per_element) {
  // 2 N^3 FLOPs over 3 N^2 elements: the intensity is 2 N / (3 bytes).
  const double needed = 3.0 * bytes_per_element * gpu.flops_per_second;
  const auto enough = [&](std::int64_t n) { return 2.0 * n * gpu.bytes_per_second >= needed; };
  std::int64_t n = std::max<std::int64_t>(1, std::floor(needed / (2.0 * gpu.bytes_per_second)) - 1);
  while (!enough(n)) ++n;
  return n;
}

double attainable_warm(const GpuWithL2& gpu, const Cost& cost) {
  const bool stays = cost.bytes <= gpu.l2_bytes;
  const double bandwidth = stays ? gpu.l2_bytes_per_second : gpu.dram.bytes_per_second;
  const double intensity = static_cast<double>(cost.flops) / static_cast<double>(cost.bytes);
  return under_both(gpu.dram.flops_per_second, bandwidth, intensity);
}

Roof limiting_roof(const GpuWithL2& gpu, const Traffic& traffic) {
  const double compute = traffic.flops / gpu.dram.flops_per_second;
  const double l2 = traffic.l2_bytes / gpu.l2_bytes_per_second;
  const double dram = traffic.dram_bytes / gpu.dram.bytes_per_second;
  Roof roof = Roof::compute;
  double longest = compute;
  if (l2 > longest) {
    roof = Roof::l2;
    longest = l2;
  }
  if (dram > longest) roof = Roof::dram;
  return roof;
}

Utilisation utilisation(const Gpu& gpu, const Run& run) {
  const double flops_possible = gpu.flops_per_second * run.seconds;
  const double bytes_possible = gpu.bytes_per_second * run.seconds;
  Utilisation used;
  used.model_flops = run.needed.flops / flops_possible;
  used.hardware_flops = run.executed_flops / flops_possible;
  used.bandwidth = run.needed.bytes / bytes_possible;
  return used;
}
