#include "gemm_study.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "benchmark.h"
#include "gemm.h"
#include "gemm_cublas.h"

namespace {

struct Curve {
  const char* name;
  void (*launch)(const GemmStudyDevice&, int n);
};

const Curve kCurves[] = {
    {"cublas",
     [](const GemmStudyDevice& d, int n) { gemm_cublas(d.cublas, d.A, d.B, d.C, n, n, n); }},
    {"tiled", [](const GemmStudyDevice& d, int n) { gemm_tiled(d.A, d.B, d.C, n, n, n); }},
    {"naive", [](const GemmStudyDevice& d, int n) { gemm_naive(d.A, d.B, d.C, n, n, n); }},
};

struct Row {
  int n;
  double roofline, cublas, tiled, naive;
};

}  // namespace

GemmFindings gemm_study(const GemmStudyDevice& device, const std::filesystem::path& folder) {
  rooflab::plot::LatencyChart chart{
      .title = device.name, .x_label = "size of a side", .x = {}, .latency_ms = {{"roofline", {}}}};
  for (const Curve& curve : kCurves) chart.latency_ms.push_back({curve.name, {}});

  std::vector<Row> rows;
  for (const int n : device.sizes) {
    const double side = n;
    const double arithmetic = 2e3 * side * side * side / device.gpu.flops_per_second;
    const double traffic = 12e3 * side * side / device.gpu.bytes_per_second;
    chart.latency_ms[0].values.push_back(arithmetic > traffic ? arithmetic : traffic);
    for (std::size_t i = 0; i < std::size(kCurves); ++i) {
      const auto once = [&] { kCurves[i].launch(device, n); };
      const Latency latency = benchmark_latency(once, 2, 2 * device.n_repeat);
      chart.latency_ms[i + 1].values.push_back(latency.mean);
    }
    chart.x.push_back(std::to_string(n));
    const auto last = [&](int series) { return chart.latency_ms[series].values.back(); };
    rows.push_back({n, last(0), last(1), last(2), last(3)});
  }
  write(chart, folder / "gemm_study");

  const auto no_gain = std::find_if(rows.rbegin(), rows.rend(),
                                    [](const Row& row) { return row.tiled > 0.9 * row.naive; });
  const auto worked = std::find_if(rows.begin(), rows.end(),
                                   [](const Row& row) { return row.cublas < 10 * row.roofline; });
  GemmFindings findings;
  if (no_gain != rows.rbegin()) findings.tiling_pays_from = std::prev(no_gain)->n;
  if (worked != rows.begin()) findings.launch_hides_up_to = std::prev(worked)->n;
  return findings;
}
