#include "roofline_model.h"

#include <algorithm>
#include <cmath>

#include "toolkit/todo.h"

using rooflab::Bound;
using rooflab::Cost;
using rooflab::Gpu;

Gpu gpu_of(const DataSheet& sheet) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("turn TFLOP/s and GB/s into FLOP/s and B/s, then think of the zeros");
  const double dense_share = sheet.with_sparsity ? 0.5 : 1.0;
  return {.flops_per_second = sheet.tflops_per_second * 1e12 * dense_share,
          .bytes_per_second = sheet.gb_per_second * 1e9};
  // END SOLUTION
}

double ridge_point(const Gpu& gpu) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("at which FLOP/B do arithmetic and memory take equally long?");
  return gpu.flops_per_second / gpu.bytes_per_second;
  // END SOLUTION
}

double attainable(const Gpu& gpu, double intensity) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many FLOP/s can the memory feed? The flat roof limits it too");
  return std::min(gpu.flops_per_second, intensity * gpu.bytes_per_second);
  // END SOLUTION
}

Bound bound(const Gpu& gpu, double intensity) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("on which side of the ridge point does the operation lie?");
  return intensity < ridge_point(gpu) ? Bound::memory : Bound::compute;
  // END SOLUTION
}

double least_seconds(const Gpu& gpu, const Cost& cost) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("find the time for the FLOPs and the time for the bytes");
  const double compute_seconds = static_cast<double>(cost.flops) / gpu.flops_per_second;
  const double memory_seconds = static_cast<double>(cost.bytes) / gpu.bytes_per_second;
  return std::max(compute_seconds, memory_seconds);  // at best, one runs while the other does
  // END SOLUTION
}

double crossover_flops(const Gpu& gpu, std::int64_t inputs, std::int64_t bytes_per_element) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("count the bytes of one element, inputs and output");
  const std::int64_t bytes = (inputs + 1) * bytes_per_element;
  return ridge_point(gpu) * static_cast<double>(bytes);
  // END SOLUTION
}

std::int64_t smallest_compute_bound_gemm(const Gpu& gpu, std::int64_t bytes_per_element) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("write the intensity of the product as a formula of N");
  // 2 N^3 FLOPs over 3 N^2 elements: an intensity of 2 N / (3 bytes_per_element).
  const double n = ridge_point(gpu) * 3 * static_cast<double>(bytes_per_element) / 2;
  return static_cast<std::int64_t>(std::ceil(n));
  // END SOLUTION
}

double attainable_warm(const GpuWithL2& gpu, const Cost& cost) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("choose the bandwidth that serves the second run, then its roof");
  const double intensity = static_cast<double>(cost.flops) / static_cast<double>(cost.bytes);
  Gpu served = gpu.dram;
  if (cost.bytes <= gpu.l2_bytes) served.bytes_per_second = gpu.l2_bytes_per_second;
  return attainable(served, intensity);
  // END SOLUTION
}

Roof limiting_roof(const GpuWithL2& gpu, const Traffic& traffic) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("compute the time that each of the three roofs asks for");
  const double compute = static_cast<double>(traffic.flops) / gpu.dram.flops_per_second;
  const double l2 = static_cast<double>(traffic.l2_bytes) / gpu.l2_bytes_per_second;
  const double dram = static_cast<double>(traffic.dram_bytes) / gpu.dram.bytes_per_second;
  if (compute >= l2 && compute >= dram) return Roof::compute;
  return l2 >= dram ? Roof::l2 : Roof::dram;
  // END SOLUTION
}

Utilisation utilisation(const Gpu& gpu, const Run& run) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("turn FLOPs and bytes into rates, then divide each by its peak");
  const double peak_flops = gpu.flops_per_second * run.seconds;  // that the GPU could have done
  const double peak_bytes = gpu.bytes_per_second * run.seconds;
  return {.model_flops = static_cast<double>(run.needed.flops) / peak_flops,
          .hardware_flops = static_cast<double>(run.executed_flops) / peak_flops,
          .bandwidth = static_cast<double>(run.needed.bytes) / peak_bytes};
  // END SOLUTION
}
