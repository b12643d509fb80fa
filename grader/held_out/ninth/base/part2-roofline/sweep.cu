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

struct Operation {
  std::string label;
  Cost cost;
  std::function<void()> run;
};

static Cost product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.macs = m * n * k, .flops = 2 * m * n * k, .bytes = 4 * (m * k + k * n + m * n)};
}

std::vector<Operation> operations(const SweepDevice& device) {
  std::vector<Operation> list;
  for (int n = 1024; n <= 8192; n *= 2) {
    list.push_back({"gemm " + std::to_string(n), product(n, n, n), [&device, n] {
                      rooflab::linear(device.cublas, device.x, device.y, device.out, n, n, n,
                                      nullptr);
                    }});
  }
  list.push_back({"gemv 8192", product(1, 8192, 8192), [&device] {
                    rooflab::linear(device.cublas, device.y, device.x, device.out, 1, 8192, 8192,
                                    nullptr);
                  }});
  const std::int64_t e = kSweepElements;
  list.push_back({"scale 2^26", Cost{.flops = e, .bytes = 8 * e},
                  [&device, e] { stream::scale(device.x, 1.5f, device.out, e); }});
  list.push_back({"triad 2^26", Cost{.flops = 2 * e, .bytes = 12 * e},
                  [&device, e] { stream::triad(device.x, device.y, 1.5f, device.out, e); }});
  return list;
}

static double intensity(const Cost& cost) { return double(cost.flops) / double(cost.bytes); }

plot::Point predicted(const Operation& operation, const rooflab::Gpu& gpu) {
  const double i = intensity(operation.cost);
  return {operation.label, i, attainable(gpu, i), plot::PointKind::predicted};
}

plot::Point reached(const Operation& operation, const SweepDevice& device) {
  const double ms = rooflab::time_ms(operation.run, 1, 2);
  const double rate = double(operation.cost.flops) / (ms * 1e-3);
  return {operation.label, intensity(operation.cost), rate, device.kind};
}

void sweep(const SweepDevice& device, const std::filesystem::path& folder) {
  const std::vector<Operation> all = operations(device);
  plot::RooflineChart chart;
  chart.title = device.name + ", fp32";
  chart.roofs = {{"fp32", device.gpu.flops_per_second}};
  chart.memory = {{"DRAM", device.gpu.bytes_per_second}};
  for (const Operation& operation : all) {
    chart.points.push_back(predicted(operation, device.gpu));
    chart.points.push_back(reached(operation, device));
  }
  plot::write(chart, folder / "roofline");
}
