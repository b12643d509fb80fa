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

constexpr std::int64_t kFloat = sizeof(float);

struct Entry {
  std::string label;
  Cost cost;
  std::function<void()> once;
};

Entry product(const SweepDevice& d, const std::string& label, std::int64_t tokens,
              std::int64_t size) {
  Cost cost;
  cost.macs = tokens * size * size;
  cost.flops = 2 * cost.macs;
  cost.bytes = (2 * tokens * size + size * size) * kFloat;
  return {label, cost, [&d, tokens, size] {
            rooflab::linear(d.cublas, d.x, d.y, d.out, static_cast<int>(tokens),
                            static_cast<int>(size), static_cast<int>(size), nullptr);
          }};
}

Entry pass(const std::string& label, std::int64_t arrays, std::int64_t flops_each,
           std::function<void()> once) {
  Cost cost;
  cost.flops = flops_each * kSweepElements;
  cost.bytes = arrays * kSweepElements * kFloat;
  return {label, cost, std::move(once)};
}

}  // namespace

void sweep(const SweepDevice& device, const std::filesystem::path& folder) {
  std::vector<Entry> entries;
  for (const int size : {1024, 2048, 4096, 8192}) {
    entries.push_back(product(device, "gemm " + std::to_string(size), size, size));
  }
  entries.push_back(product(device, "gemv 8192", 1, 8192));
  entries.push_back(pass("scale 2^26", 2, 1, [&device] {
    stream::scale(device.x, 3.0f, device.out, kSweepElements);
  }));
  entries.push_back(pass("triad 2^26", 3, 2, [&device] {
    stream::triad(device.x, device.y, 3.0f, device.out, kSweepElements);
  }));

  plot::RooflineChart chart;
  chart.title = device.name + ", fp32";
  chart.roofs = {{"fp32", device.gpu.flops_per_second}};
  chart.memory = {{"DRAM", device.gpu.bytes_per_second}};
  for (const Entry& entry : entries) {
    const double flops = static_cast<double>(entry.cost.flops);
    const double intensity = flops / static_cast<double>(entry.cost.bytes);
    const double roof = attainable(device.gpu, intensity);
    const double seconds = rooflab::time_ms(entry.once, 1, 2) / 1000.0;
    chart.points.push_back({entry.label, intensity, roof, plot::PointKind::predicted});
    chart.points.push_back({entry.label, intensity, flops / seconds, device.kind});
  }
  plot::write(chart, folder / "roofline");
}
