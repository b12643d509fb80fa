#include "sweep.h"

#include <functional>
#include <string>
#include <vector>

#include "roofline_model.h"
#include "stream.h"
#include "toolkit/linear.h"
#include "toolkit/timing.h"

namespace plot = rooflab::plot;

namespace {

constexpr std::int64_t kFloat = sizeof(float);

// x (tokens, in) times a weight (out, in).
rooflab::Cost product_cost(std::int64_t tokens, std::int64_t in, std::int64_t out) {
  const std::int64_t macs = tokens * in * out;
  const std::int64_t elements = tokens * in + in * out + tokens * out;
  return {.macs = macs, .flops = 2 * macs, .bytes = kFloat * elements};
}

// Both points of one operation.
void place(plot::RooflineChart& chart, const SweepDevice& device, const std::string& label,
           const rooflab::Cost& cost, const std::function<void()>& run) {
  const double intensity = static_cast<double>(cost.flops) / cost.bytes;
  const double seconds = rooflab::time_ms(run, 1, 2) / 1000;
  chart.points.push_back({.label = label,
                          .intensity = intensity,
                          .flops_per_second = attainable(device.gpu, intensity),
                          .kind = plot::PointKind::predicted});
  chart.points.push_back({.label = label,
                          .intensity = intensity,
                          .flops_per_second = cost.flops / seconds,
                          .kind = device.kind});
}

}  // namespace

void sweep(const SweepDevice& device, const std::filesystem::path& folder) {
  plot::RooflineChart chart;
  chart.title = device.name + ", fp32";
  chart.roofs = {{"fp32", device.gpu.flops_per_second}};
  chart.memory = {{"DRAM", device.gpu.bytes_per_second}};
  for (int n = 1024; n <= 8192; n *= 2) {
    place(chart, device, "gemm " + std::to_string(n), product_cost(n, n, n), [&device, n] {
      rooflab::linear(device.cublas, device.x, device.y, device.out, n, n, n, nullptr);
    });
  }
  const int side = 8192;
  place(chart, device, "gemv 8192", product_cost(1, side, side), [&device, side] {
    rooflab::linear(device.cublas, device.x, device.y, device.out, 1, side, side, nullptr);
  });
  const std::int64_t count = kSweepElements;
  const rooflab::Cost scale_cost = {.flops = count, .bytes = 2 * count * kFloat};
  place(chart, device, "scale 2^26", scale_cost,
        [&device, count] { stream::scale(device.x, 0.5f, device.out, count); });
  const rooflab::Cost triad_cost = {.macs = count, .flops = 2 * count, .bytes = 3 * count * kFloat};
  place(chart, device, "triad 2^26", triad_cost,
        [&device, count] { stream::triad(device.x, device.y, 0.5f, device.out, count); });
  plot::write(chart, folder / "roofline");
}
