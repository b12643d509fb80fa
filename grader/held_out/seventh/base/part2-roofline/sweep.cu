#include "sweep.h"

#include <functional>
#include <string>
#include <vector>

#include "roofline_model.h"
#include "stream.h"
#include "toolkit/linear.h"
#include "toolkit/timing.h"

namespace plot = rooflab::plot;
using rooflab::Cost;

typedef std::int64_t i64;
#define BPE 4  // fp32

struct Op {
  std::string label;
  Cost cost;
  std::function<void()> run;
};

static Cost mm(i64 m, i64 n, i64 k) {
  return {.macs = m * n * k, .flops = 2 * m * n * k, .bytes = BPE * (m * k + k * n + m * n)};
}

void sweep(const SweepDevice& dev, const std::filesystem::path& folder) {
  std::vector<Op> ops;
  for (int n : {1024, 2048, 4096, 8192}) {
    ops.push_back({"gemm " + std::to_string(n), mm(n, n, n), [&dev, n] {
                     rooflab::linear(dev.cublas, dev.x, dev.y, dev.out, n, n, n, nullptr);
                   }});
  }
  ops.push_back({"gemv 8192", mm(1, 8192, 8192), [&dev] {
                   rooflab::linear(dev.cublas, dev.x, dev.y, dev.out, 1, 8192, 8192, nullptr);
                 }});
  ops.push_back({"scale 2^26", {.macs = 0, .flops = kSweepElements, .bytes = 2 * BPE * kSweepElements},
                 [&dev] { stream::scale(dev.x, 3.f, dev.out, kSweepElements); }});
  ops.push_back({"triad 2^26",
                 {.macs = 0, .flops = 2 * kSweepElements, .bytes = 3 * BPE * kSweepElements},
                 [&dev] { stream::triad(dev.x, dev.y, 3.f, dev.out, kSweepElements); }});

  plot::RooflineChart chart;
  chart.title = dev.name + ", fp32";
  chart.roofs = {{"fp32", dev.gpu.flops_per_second}};
  chart.memory = {{"DRAM", dev.gpu.bytes_per_second}};
  for (auto& op : ops) {
    const double ai = (double)op.cost.flops / (double)op.cost.bytes;
    const double sec = rooflab::time_ms(op.run, 1, 1) * 1e-3;
    chart.points.push_back({op.label, ai, attainable(dev.gpu, ai), plot::PointKind::predicted});
    chart.points.push_back({op.label, ai, op.cost.flops / sec, dev.kind});
  }
  plot::write(chart, folder / "roofline");
}
