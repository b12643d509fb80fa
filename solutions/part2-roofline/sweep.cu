#include "sweep.h"

#include <functional>
#include <string>
#include <vector>

#include "roofline_model.h"
#include "stream.h"
#include "toolkit/linear.h"
#include "toolkit/timing.h"
#include "toolkit/todo.h"

namespace plot = rooflab::plot;
using rooflab::Cost;

// One operation of the sweep: its label in the chart, what it needs of any GPU, and how to run it
// once.
struct Operation {
  std::string label;
  Cost cost;
  std::function<void()> run;
};

// BEGIN SOLUTION
namespace {

constexpr std::int64_t kBytesPerElement = sizeof(float);

// Cost of y = x weight^T with x (tokens, in), weight (out, in) and y (tokens, out).
Cost linear_cost(std::int64_t tokens, std::int64_t in, std::int64_t out) {
  const std::int64_t macs = tokens * in * out;
  const std::int64_t elements = tokens * in + in * out + tokens * out;
  return {.macs = macs, .flops = 2 * macs, .bytes = elements * kBytesPerElement};
}

// Cost of a function of `inputs` arrays of n elements.
Cost pointwise_cost(std::int64_t n, std::int64_t inputs, std::int64_t flops_per_element) {
  return {.macs = 0, .flops = n * flops_per_element, .bytes = n * (inputs + 1) * kBytesPerElement};
}

Operation gemm(const SweepDevice& d, int n) {
  return {"gemm " + std::to_string(n), linear_cost(n, n, n),
          [=] { rooflab::linear(d.cublas, d.x, d.y, d.out, n, n, n, nullptr); }};
}

Operation gemv(const SweepDevice& d, int n) {
  return {"gemv " + std::to_string(n), linear_cost(1, n, n),
          [=] { rooflab::linear(d.cublas, d.x, d.y, d.out, 1, n, n, nullptr); }};
}

}  // namespace

// END SOLUTION
std::vector<Operation> operations(const SweepDevice& device) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("list the seven operations; what does one gemm cost, and how is it run?");
  constexpr float kScalar = 3.0f;
  std::vector<Operation> all;
  for (const int n : {1024, 2048, 4096, 8192}) all.push_back(gemm(device, n));
  all.push_back(gemv(device, 8192));
  all.push_back({"scale 2^26", pointwise_cost(kSweepElements, 1, 1),
                 [=] { stream::scale(device.x, kScalar, device.out, kSweepElements); }});
  all.push_back({"triad 2^26", pointwise_cost(kSweepElements, 2, 2),
                 [=] { stream::triad(device.x, device.y, kScalar, device.out, kSweepElements); }});
  return all;
  // END SOLUTION
}

// The point where the roofline model sees the operation.
plot::Point predicted(const Operation& operation, const rooflab::Gpu& gpu) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("FLOPs over bytes, and what your model lets it attain");
  const double intensity =
      static_cast<double>(operation.cost.flops) / static_cast<double>(operation.cost.bytes);
  return {operation.label, intensity, attainable(gpu, intensity), plot::PointKind::predicted};
  // END SOLUTION
}

// The point that the operation reaches: the same intensity, and FLOPs over the time it took.
plot::Point reached(const Operation& operation, const SweepDevice& device) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("time operation.run with rooflab::time_ms; mind the milliseconds");
  constexpr double kMillisecondsPerSecond = 1e3;
  plot::Point point = predicted(operation, device.gpu);
  const double seconds = rooflab::time_ms(operation.run) / kMillisecondsPerSecond;
  point.flops_per_second = static_cast<double>(operation.cost.flops) / seconds;
  point.kind = device.kind;
  return point;
  // END SOLUTION
}

void sweep(const SweepDevice& device, const std::filesystem::path& folder) {
  const std::vector<Operation> all = operations(device);
  plot::RooflineChart chart;
  chart.title = device.name + ", fp32";
  chart.roofs = {{"fp32", device.gpu.flops_per_second}};
  chart.memory = {{"DRAM", device.gpu.bytes_per_second}};
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("give the chart both points of each operation, then write it");
  for (const Operation& operation : all) {
    chart.points.push_back(predicted(operation, device.gpu));
    chart.points.push_back(reached(operation, device));
  }
  plot::write(chart, folder / "roofline");
  // END SOLUTION
}
