#include "gemm_study.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "benchmark.h"
#include "counters.h"
#include "gemm.h"
#include "gemm_cublas.h"
#include "toolkit/todo.h"

namespace plot = rooflab::plot;

// The roofline: no fp32 GEMM of size n x n x n takes less on this GPU. In milliseconds.
double roofline_ms(const rooflab::Gpu& gpu, int n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("take FLOPs and bytes from gemm_cost: which of the two takes longer?");
  constexpr double kMillisecondsPerSecond = 1e3;
  const rooflab::Cost cost = gemm_cost(n, n, n, sizeof(float));
  const double compute_seconds = static_cast<double>(cost.flops) / gpu.flops_per_second;
  const double memory_seconds = static_cast<double>(cost.bytes) / gpu.bytes_per_second;
  return kMillisecondsPerSecond * std::max(compute_seconds, memory_seconds);
  // END SOLUTION
}

// One GEMM at every size. `run(n)` launches it once; the result is its median time for each size.
std::vector<double> medians_ms(const GemmStudyDevice& device, const std::function<void(int)>& run) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("loop over device.sizes, and time run(n) with your benchmark_latency");
  std::vector<double> medians;
  for (const int n : device.sizes) {
    const Latency latency = benchmark_latency([&] { run(n); }, device.n_warmup, device.n_repeat);
    medians.push_back(latency.median);
  }
  return medians;
  // END SOLUTION
}

// The smallest size such that there and at every larger one `tiled` takes at most 0.9 of the time
// of `naive`, else 0.
int tiling_pays_from(const std::vector<int>& sizes, const std::vector<double>& naive,
                     const std::vector<double>& tiled) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("begin at the largest size, and go down for as long as tiling pays");
  constexpr double kWorthIt = 0.9;
  int from = 0;
  for (std::size_t i = sizes.size(); i-- > 0 && tiled[i] <= kWorthIt * naive[i];) from = sizes[i];
  return from;
  // END SOLUTION
}

// The largest size such that there and at every smaller one `cublas` takes at least 10 times as
// long as the roofline allows, else 0.
int launch_hides_up_to(const std::vector<int>& sizes, const std::vector<double>& cublas,
                       const std::vector<double>& roofline) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("begin at the smallest size; how far up is the work a tenth or less?");
  constexpr double kHidden = 10;
  int up_to = 0;
  for (std::size_t i = 0; i < sizes.size() && cublas[i] >= kHidden * roofline[i]; ++i) {
    up_to = sizes[i];
  }
  return up_to;
  // END SOLUTION
}

GemmFindings gemm_study(const GemmStudyDevice& device, const std::filesystem::path& folder) {
  const float *A = device.A, *B = device.B;
  float* C = device.C;

  plot::LatencyChart chart;
  chart.title = "C = A B in fp32 on " + device.name;
  chart.x_label = "M = N = K";
  for (const int n : device.sizes) chart.x.push_back(std::to_string(n));

  const auto naive = medians_ms(device, [&](int n) { gemm_naive(A, B, C, n, n, n); });
  const auto tiled = medians_ms(device, [&](int n) { gemm_tiled(A, B, C, n, n, n); });
  const auto cublas =
      medians_ms(device, [&](int n) { gemm_cublas(device.cublas, A, B, C, n, n, n); });
  std::vector<double> roofline;
  for (const int n : device.sizes) roofline.push_back(roofline_ms(device.gpu, n));
  // BEGIN SOLUTION
  // STARTER: // Measure gemm_registers here too, once yours is done, and add it to the chart.
  // STARTER: chart.latency_ms = {{"naive", naive}, {"tiled", tiled}, {"cublas", cublas}};
  // STARTER: rooflab::todo("the fourth series is the roofline; then write the chart");
  const auto registers = medians_ms(device, [&](int n) { gemm_registers(A, B, C, n, n, n); });
  chart.latency_ms = {{"naive", naive},
                      {"tiled", tiled},
                      {"registers", registers},
                      {"cublas", cublas},
                      {"roofline", roofline}};
  plot::write(chart, folder / "gemm_study");
  // END SOLUTION
  return {.tiling_pays_from = tiling_pays_from(device.sizes, naive, tiled),
          .launch_hides_up_to = launch_hides_up_to(device.sizes, cublas, roofline)};
}
