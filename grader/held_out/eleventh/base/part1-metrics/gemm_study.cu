#include "gemm_study.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "benchmark.h"
#include "counters.h"
#include "gemm.h"
#include "gemm_cublas.h"

namespace plot = rooflab::plot;

namespace {

double roofline_ms(const rooflab::Gpu& gpu, int n) {
  const rooflab::Cost cost = gemm_cost(n, n, n, sizeof(float));
  const double arithmetic = cost.flops / gpu.flops_per_second;
  const double memory = cost.bytes / gpu.bytes_per_second;
  return 1e3 * std::max(arithmetic, memory);
}

int tiling_pays_from(const std::vector<int>& sizes, const std::vector<double>& naive,
                     const std::vector<double>& tiled) {
  int smallest = 0;
  for (std::size_t i = sizes.size(); i > 0; --i) {
    if (tiled[i - 1] > 0.9 * naive[i - 1]) break;
    smallest = sizes[i - 1];
  }
  return smallest;
}

int launch_hides_up_to(const std::vector<int>& sizes, const std::vector<double>& cublas,
                       const std::vector<double>& roofline) {
  int largest = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (cublas[i] < 10 * roofline[i]) break;
    largest = sizes[i];
  }
  return largest;
}

}  // namespace

GemmFindings gemm_study(const GemmStudyDevice& device, const std::filesystem::path& folder) {
  plot::LatencyChart chart;
  chart.title = "Square matrices in fp32, " + device.name;
  chart.x_label = "M = N = K";
  std::vector<double> naive, tiled, cublas, least;
  const auto median = [&](const std::function<void()>& call) {
    return benchmark_latency(call, device.n_warmup, device.n_repeat).median;
  };
  for (const int n : device.sizes) {
    chart.x.push_back(std::to_string(n));
    naive.push_back(median([&] { gemm_naive(device.A, device.B, device.C, n, n, n); }));
    tiled.push_back(median([&] { gemm_tiled(device.A, device.B, device.C, n, n, n); }));
    cublas.push_back(
        median([&] { gemm_cublas(device.cublas, device.A, device.B, device.C, n, n, n); }));
    least.push_back(roofline_ms(device.gpu, n));
  }
  chart.latency_ms = {{"naive", naive}, {"tiled", tiled}, {"cublas", cublas}, {"roofline", least}};
  plot::write(chart, folder / "gemm_study");
  GemmFindings findings;
  findings.tiling_pays_from = tiling_pays_from(device.sizes, naive, tiled);
  findings.launch_hides_up_to = launch_hides_up_to(device.sizes, cublas, least);
  return findings;
}
