#include "roofline_model.h"

#include <cmath>

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

static double smaller(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

Gpu gpu_of(const DataSheet& sheet) {
  const double tera = 1e12;
  const double giga = 1e9;
  Gpu gpu;
  gpu.flops_per_second = sheet.tflops_per_second * tera;
  gpu.bytes_per_second = sheet.gb_per_second * giga;
  if (sheet.with_sparsity) gpu.flops_per_second /= 2.0;
  return gpu;
}

double ridge_point(const Gpu& gpu) {
  return gpu.flops_per_second / gpu.bytes_per_second;
}

double attainable(const Gpu& gpu, double intensity) {
  double slope = gpu.bytes_per_second * intensity;
  return smaller(slope, gpu.flops_per_second);
}

Bound bound(const Gpu& gpu, double intensity) {
  double ridge = ridge_point(gpu);
  if (intensity < ridge) return Bound::memory;
  return Bound::compute;
}

double least_seconds(const Gpu& gpu, const Cost& cost) {
  double compute = (double)cost.flops / gpu.flops_per_second;
  double memory = (double)cost.bytes / gpu.bytes_per_second;
  return larger(compute, memory);
}

double crossover_flops(const Gpu& gpu, std::int64_t inputs, std::int64_t bytes_per_element) {
  std::int64_t arrays = inputs + 1;
  double bytes = (double)(arrays * bytes_per_element);
  return ridge_point(gpu) * bytes;
}

/* N x N x N: 2 N^3 FLOPs over 3 N^2 elements, so the intensity is 2 N / (3 bytes_per_element). */
std::int64_t smallest_compute_bound_gemm(const Gpu& gpu, std::int64_t bytes_per_element) {
  double ridge = ridge_point(gpu);
  double estimate = ridge * 3.0 * (double)bytes_per_element / 2.0;
  std::int64_t n = (std::int64_t)std::ceil(estimate);
  if (n < 1) n = 1;
  return n;
}

double attainable_warm(const GpuWithL2& gpu, const Cost& cost) {
  double bandwidth = gpu.dram.bytes_per_second;
  if (cost.bytes <= gpu.l2_bytes) bandwidth = gpu.l2_bytes_per_second;
  double intensity = (double)cost.flops / (double)cost.bytes;
  return smaller(bandwidth * intensity, gpu.dram.flops_per_second);
}

Roof limiting_roof(const GpuWithL2& gpu, const Traffic& traffic) {
  double t_compute = (double)traffic.flops / gpu.dram.flops_per_second;
  double t_l2 = (double)traffic.l2_bytes / gpu.l2_bytes_per_second;
  double t_dram = (double)traffic.dram_bytes / gpu.dram.bytes_per_second;
  if (t_compute >= t_l2 && t_compute >= t_dram) return Roof::compute;
  if (t_l2 >= t_dram) return Roof::l2;
  return Roof::dram;
}

Utilisation utilisation(const Gpu& gpu, const Run& run) {
  double model_rate = (double)run.needed.flops / run.seconds;
  double executed_rate = (double)run.executed_flops / run.seconds;
  double byte_rate = (double)run.needed.bytes / run.seconds;
  Utilisation u;
  u.model_flops = model_rate / gpu.flops_per_second;
  u.hardware_flops = executed_rate / gpu.flops_per_second;
  u.bandwidth = byte_rate / gpu.bytes_per_second;
  return u;
}
