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

namespace {

struct Operation {
  std::string label;
  Cost cost;
  std::function<void()> run;
};

// What a product of (m, k) and (k, n) needs, and a pass over arrays of kSweepElements.
Cost product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.macs = m * n * k, .flops = 2 * m * n * k, .bytes = 4 * (m * k + k * n + m * n)};
}
Cost pass(std::int64_t flops, std::int64_t arrays) {
  return {.flops = flops * kSweepElements, .bytes = 4 * arrays * kSweepElements};
}

std::vector<Operation> operations(const SweepDevice& device) {
  std::vector<Operation> all;
  const auto product_of = [&](const std::string& label, int tokens, int size) {
    all.push_back({label, product(tokens, size, size), [=] {
                     rooflab::linear(device.cublas, device.x, device.y, device.out, tokens, size,
                                     size, nullptr);
                   }});
  };
  for (const int size : {1024, 2048, 4096, 8192}) {
    product_of("gemm " + std::to_string(size), size, size);
  }
  product_of("gemv 8192", 1, 8192);
  all.push_back({"scale 2^26", pass(1, 2),
                 [=] { stream::scale(device.x, 1.5f, device.out, kSweepElements); }});
  all.push_back({"triad 2^26", pass(2, 3),
                 [=] { stream::triad(device.x, device.y, 1.5f, device.out, kSweepElements); }});
  return all;
}

}  // namespace

void sweep(const SweepDevice& device, const std::filesystem::path& folder) {
  plot::RooflineChart chart;
  chart.title = device.name + ", fp32";
  chart.roofs = {{"fp32", device.gpu.flops_per_second}};
  chart.memory = {{"DRAM", device.gpu.bytes_per_second}};
  for (const Operation& operation : operations(device)) {
    const double flops = operation.cost.flops;
    const double intensity = flops / operation.cost.bytes;
    const double seconds = 1e-3 * rooflab::time_ms(operation.run, 1, 2);
    chart.points.push_back({operation.label, intensity, attainable(device.gpu, intensity),
                            plot::PointKind::predicted});
    chart.points.push_back({operation.label, intensity, flops / seconds, device.kind});
  }
  plot::write(chart, folder / "roofline");
}
