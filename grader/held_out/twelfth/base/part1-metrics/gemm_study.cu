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
  const double seconds = std::max(cost.flops / gpu.flops_per_second,
                                  cost.bytes / gpu.bytes_per_second);
  return 1e3 * seconds;
}

}  // namespace

GemmFindings gemm_study(const GemmStudyDevice& device, const std::filesystem::path& folder) {
  std::vector<double> naive, tiled, cublas, roofline;
  plot::LatencyChart chart;
  chart.title = "C = A B in fp32 on " + device.name;
  chart.x_label = "M = N = K";
  for (const int n : device.sizes) {
    const auto median = [&](const std::function<void()>& call) {
      return benchmark_latency(call, device.n_warmup, device.n_repeat).median;
    };
    chart.x.push_back(std::to_string(n));
    naive.push_back(median([&] { gemm_naive(device.A, device.B, device.C, n, n, n); }));
    tiled.push_back(median([&] { gemm_tiled(device.A, device.B, device.C, n, n, n); }));
    cublas.push_back(
        median([&] { gemm_cublas(device.cublas, device.A, device.B, device.C, n, n, n); }));
    roofline.push_back(roofline_ms(device.gpu, n));
  }
  chart.latency_ms = {{"naive", naive}, {"tiled", tiled}, {"cublas", cublas}, {"roofline", roofline}};
  plot::write(chart, folder / "gemm_study");

  GemmFindings findings;
  for (std::size_t i = device.sizes.size(); i-- > 0;) {
    if (tiled[i] > 0.9 * naive[i]) break;
    findings.tiling_pays_from = device.sizes[i];
  }
  for (std::size_t i = 0; i < device.sizes.size(); ++i) {
    if (cublas[i] < 10 * roofline[i]) break;
    findings.launch_hides_up_to = device.sizes[i];
  }
  return findings;
}
