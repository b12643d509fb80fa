#include "roofline_model.h"

#include <algorithm>
#include <array>
#include <cmath>

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;

double roof_at(double peak, double bandwidth, double intensity) {
  const double slope = bandwidth * intensity;
  return slope < peak ? slope : peak;
}

}  // namespace

Gpu gpu_of(const DataSheet& sheet) {
  const double dense = sheet.with_sparsity ? 0.5 : 1.0;
  return {sheet.tflops_per_second * dense * kTera, sheet.gb_per_second * kGiga};
}

double ridge_point(const Gpu& gpu) { return gpu.flops_per_second / gpu.bytes_per_second; }

double attainable(const Gpu& gpu, double intensity) {
  return roof_at(gpu.flops_per_second, gpu.bytes_per_second, intensity);
}

Bound bound(const Gpu& gpu, double intensity) {
  return intensity >= ridge_point(gpu) ? Bound::compute : Bound::memory;
}

double least_seconds(const Gpu& gpu, const Cost& cost) {
  const double busy = cost.flops / gpu.flops_per_second;
  const double moving = cost.bytes / gpu.bytes_per_second;
  return std::max(busy, moving);
}

double crossover_flops(const Gpu& gpu, std::int64_t inputs, std::int64_t bytes_per_element) {
  const std::int64_t arrays = inputs + 1;
  return ridge_point(gpu) * static_cast<double>(arrays * bytes_per_element);
}

std::int64_t smallest_compute_bound_gemm(const Gpu& gpu, std::int64_t bytes_per_element) {
  // 2 N^3 FLOPs over 3 N^2 elements
  const double n = ridge_point(gpu) * 3.0 * static_cast<double>(bytes_per_element) / 2.0;
  return static_cast<std::int64_t>(std::ceil(n));
}

double attainable_warm(const GpuWithL2& gpu, const Cost& cost) {
  const bool stays = cost.bytes <= gpu.l2_bytes;
  const double bandwidth = stays ? gpu.l2_bytes_per_second : gpu.dram.bytes_per_second;
  const double intensity = static_cast<double>(cost.flops) / static_cast<double>(cost.bytes);
  return roof_at(gpu.dram.flops_per_second, bandwidth, intensity);
}

Roof limiting_roof(const GpuWithL2& gpu, const Traffic& traffic) {
  const std::array<double, 3> seconds = {traffic.flops / gpu.dram.flops_per_second,
                                         traffic.l2_bytes / gpu.l2_bytes_per_second,
                                         traffic.dram_bytes / gpu.dram.bytes_per_second};
  const auto slowest = std::max_element(seconds.begin(), seconds.end());
  return static_cast<Roof>(slowest - seconds.begin());
}

Utilisation utilisation(const Gpu& gpu, const Run& run) {
  const auto share = [&run](double amount, double peak) { return amount / run.seconds / peak; };
  return {.model_flops = share(run.needed.flops, gpu.flops_per_second),
          .hardware_flops = share(run.executed_flops, gpu.flops_per_second),
          .bandwidth = share(run.needed.bytes, gpu.bytes_per_second)};
}
