#include "roofline_model.h"

#include <algorithm>

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

namespace {

// How long the two halves of a GPU need.
struct Times {
  double arithmetic;
  double memory;
  double longer() const { return arithmetic < memory ? memory : arithmetic; }
};

Times times_of(const Gpu& gpu, double flops, double bytes) {
  return {flops / gpu.flops_per_second, bytes / gpu.bytes_per_second};
}

}  // namespace

Gpu gpu_of(const DataSheet& sheet) {
  Gpu gpu;
  gpu.flops_per_second = sheet.tflops_per_second * 1e12;
  gpu.bytes_per_second = sheet.gb_per_second * 1e9;
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
  return times_of(gpu, cost.flops, cost.bytes).longer();
}

double crossover_flops(const Gpu& gpu, std::int64_t inputs, std::int64_t bytes_per_element) {
  const std::int64_t arrays = inputs + 1;
  return ridge_point(gpu) * static_cast<double>(arrays * bytes_per_element);
}

std::int64_t smallest_compute_bound_gemm(const Gpu& gpu, std::int64_t bytes_per_element) {
  // Twice the size doubles the intensity: close in from both sides.
  const auto is_fast = [&](std::int64_t n) {
    const double flops = 2.0 * n;
    const double bytes = 3.0 * bytes_per_element;
    return flops / bytes >= ridge_point(gpu);
  };
  std::int64_t slow = 0, fast = 1;
  while (!is_fast(fast)) fast *= 2;
  while (fast - slow > 1) {
    const std::int64_t middle = slow + (fast - slow) / 2;
    (is_fast(middle) ? fast : slow) = middle;
  }
  return fast;
}

double attainable_warm(const GpuWithL2& gpu, const Cost& cost) {
  const double intensity = static_cast<double>(cost.flops) / cost.bytes;
  Gpu seen = gpu.dram;
  if (cost.bytes <= gpu.l2_bytes) seen.bytes_per_second = gpu.l2_bytes_per_second;
  return attainable(seen, intensity);
}

Roof limiting_roof(const GpuWithL2& gpu, const Traffic& traffic) {
  Roof roof = Roof::compute;
  double longest = traffic.flops / gpu.dram.flops_per_second;
  const auto consider = [&](Roof other, double seconds) {
    if (seconds <= longest) return;
    longest = seconds;
    roof = other;
  };
  consider(Roof::l2, traffic.l2_bytes / gpu.l2_bytes_per_second);
  consider(Roof::dram, traffic.dram_bytes / gpu.dram.bytes_per_second);
  return roof;
}

Utilisation utilisation(const Gpu& gpu, const Run& run) {
  const double possible_flops = gpu.flops_per_second * run.seconds;
  const double possible_bytes = gpu.bytes_per_second * run.seconds;
  Utilisation shares;
  shares.model_flops = run.needed.flops / possible_flops;
  shares.hardware_flops = run.executed_flops / possible_flops;
  shares.bandwidth = run.needed.bytes / possible_bytes;
  return shares;
}
