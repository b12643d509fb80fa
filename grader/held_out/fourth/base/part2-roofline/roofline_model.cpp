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
  const double slope = gpu.bytes_per_second * intensity;
  return slope < gpu.flops_per_second ? slope : gpu.flops_per_second;
}

Bound bound(const Gpu& gpu, double intensity) {
  return gpu.bytes_per_second * intensity < gpu.flops_per_second ? Bound::memory : Bound::compute;
}

double least_seconds(const Gpu& gpu, const Cost& cost) {
  const double for_flops = cost.flops / gpu.flops_per_second;
  const double for_bytes = cost.bytes / gpu.bytes_per_second;
  return for_flops > for_bytes ? for_flops : for_bytes;
}

double crossover_flops(const Gpu& gpu, std::int64_t inputs, std::int64_t bytes_per_element) {
  const std::int64_t bytes = (inputs + 1) * bytes_per_element;
  return ridge_point(gpu) * bytes;
}

std::int64_t smallest_compute_bound_gemm(const Gpu& gpu, std::int64_t bytes_per_element) {
  // 2 N^3 FLOPs over 3 N^2 elements.
  const double per_n = 2.0 / (3.0 * bytes_per_element);
  std::int64_t n = static_cast<std::int64_t>(ridge_point(gpu) / per_n);
  while (n * per_n < ridge_point(gpu)) ++n;
  return n;
}

double attainable_warm(const GpuWithL2& gpu, const Cost& cost) {
  Gpu second = gpu.dram;
  if (cost.bytes <= gpu.l2_bytes) second.bytes_per_second = gpu.l2_bytes_per_second;
  return attainable(second, static_cast<double>(cost.flops) / cost.bytes);
}

Roof limiting_roof(const GpuWithL2& gpu, const Traffic& traffic) {
  Roof worst = Roof::compute;
  double longest = traffic.flops / gpu.dram.flops_per_second;
  const double l2 = traffic.l2_bytes / gpu.l2_bytes_per_second;
  if (l2 > longest) {
    worst = Roof::l2;
    longest = l2;
  }
  const double dram = traffic.dram_bytes / gpu.dram.bytes_per_second;
  if (dram > longest) worst = Roof::dram;
  return worst;
}

Utilisation utilisation(const Gpu& gpu, const Run& run) {
  const auto share = [&](std::int64_t amount, double peak) { return amount / run.seconds / peak; };
  Utilisation used;
  used.model_flops = share(run.needed.flops, gpu.flops_per_second);
  used.hardware_flops = share(run.executed_flops, gpu.flops_per_second);
  used.bandwidth = share(run.needed.bytes, gpu.bytes_per_second);
  return used;
}
