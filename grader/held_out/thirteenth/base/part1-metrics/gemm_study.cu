#include "gemm_study.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "benchmark.h"
#include "counters.h"
#include "gemm.h"
#include "gemm_cublas.h"

namespace plot = rooflab::plot;

namespace {

using Curve = std::vector<double>;  // milliseconds, a value for each size

Curve measured(const GemmStudyDevice& device, const std::function<void(int)>& multiply) {
  Curve curve;
  for (const int size : device.sizes) {
    const Latency latency =
        benchmark_latency([&] { multiply(size); }, device.n_warmup, device.n_repeat);
    curve.push_back(latency.median);
  }
  return curve;
}

Curve least(const GemmStudyDevice& device) {
  Curve curve;
  for (const int size : device.sizes) {
    const rooflab::Cost cost = gemm_cost(size, size, size, sizeof(float));
    const double arithmetic = cost.flops / device.gpu.flops_per_second;
    const double traffic = cost.bytes / device.gpu.bytes_per_second;
    curve.push_back(std::max(arithmetic, traffic) * 1e3);
  }
  return curve;
}

// The last size, from `sizes` as it is walked over, before `holds` first fails; 0 when at once.
template <typename Walk, typename Holds>
int last_while(Walk begin, Walk end, const std::vector<int>& sizes, Holds holds) {
  int last = 0;
  for (Walk at = begin; at != end && holds(*at); ++at) last = sizes[*at];
  return last;
}

}  // namespace

GemmFindings gemm_study(const GemmStudyDevice& device, const std::filesystem::path& folder) {
  const auto square = [&](auto gemm) {
    return measured(device, [&device, gemm](int n) { gemm(device.A, device.B, device.C, n, n, n); });
  };
  const Curve naive = square(gemm_naive);
  const Curve tiled = square(gemm_tiled);
  const Curve cublas = measured(device, [&device](int n) {
    gemm_cublas(device.cublas, device.A, device.B, device.C, n, n, n);
  });
  const Curve roofline = least(device);

  plot::LatencyChart chart;
  chart.title = "fp32 GEMM, " + device.name;
  chart.x_label = "M = N = K";
  for (const int size : device.sizes) chart.x.push_back(std::to_string(size));
  chart.latency_ms.push_back({"naive", naive});
  chart.latency_ms.push_back({"tiled", tiled});
  chart.latency_ms.push_back({"cublas", cublas});
  chart.latency_ms.push_back({"roofline", roofline});
  plot::write(chart, folder / "gemm_study");

  std::vector<int> places(device.sizes.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int>(i);
  GemmFindings findings;
  findings.tiling_pays_from =
      last_while(places.rbegin(), places.rend(), device.sizes,
                 [&](int i) { return tiled[i] <= 0.9 * naive[i]; });
  findings.launch_hides_up_to =
      last_while(places.begin(), places.end(), device.sizes,
                 [&](int i) { return cublas[i] >= 10 * roofline[i]; });
  return findings;
}
