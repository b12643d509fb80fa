#pragma once

#include <cublas_v2.h>

#include <filesystem>
#include <string>
#include <vector>

#include "toolkit/cost.h"
#include "toolkit/plot/plot.h"

/// What the study runs on. The matrices have room for the largest size; a smaller GEMM uses the
/// beginning of each, densely packed.
struct GemmStudyDevice {
  std::string name;        ///< of the GPU, for the chart's title
  rooflab::Gpu gpu;        ///< its fp32 peak and its DRAM bandwidth
  cublasHandle_t cublas;   ///< ready to use, on the default stream
  std::vector<int> sizes;  ///< M = N = K of each GEMM, from the smallest to the largest
  const float *A = nullptr, *B = nullptr;
  float* C = nullptr;
  int n_warmup = 0, n_repeat = 0;  ///< for benchmark_latency; small on a simulated GPU, whose times
                                   ///< have no noise
};

/// What the curves say. Both are 0 where no size qualifies.
struct GemmFindings {
  /// Tiling pays from here: the smallest size such that, at it and at every larger one, "tiled"
  /// takes at most 0.9 times as long as "naive".
  int tiling_pays_from = 0;
  /// Up to here the launch hides the work: the largest size such that, at it and at every smaller
  /// one, "cublas" takes at least 10 times as long as "roofline".
  int launch_hides_up_to = 0;
};

/// Measures your GEMMs at every size, draws their latencies into one chart, and says what the chart
/// shows. The chart is a rooflab::plot::LatencyChart, written with
/// rooflab::plot::write(chart, folder / "gemm_study"): x are the sizes ("64"), x_label is
/// "M = N = K", and latency_ms has these series, in milliseconds:
///
///   "naive", "tiled", "cublas"
///       your gemm_naive, gemm_tiled and gemm_cublas on square matrices of each size: the median of
///       your benchmark_latency, with device.n_warmup and device.n_repeat
///   "roofline"
///       the least time of an fp32 GEMM of that size on device.gpu, from your gemm_cost
///   "registers"
///       your gemm_registers, if you have one: this series may be missing
GemmFindings gemm_study(const GemmStudyDevice& device, const std::filesystem::path& folder);
