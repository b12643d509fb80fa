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

std::vector<Operation> operations(const SweepDevice& device) {
  rooflab::todo("list the seven operations; what does one gemm cost, and how is it run?");
}

// The point where the roofline model sees the operation.
plot::Point predicted(const Operation& operation, const rooflab::Gpu& gpu) {
  rooflab::todo("FLOPs over bytes, and what your model lets it attain");
}

// The point that the operation reaches: the same intensity, and FLOPs over the time it took.
plot::Point reached(const Operation& operation, const SweepDevice& device) {
  rooflab::todo("time operation.run with rooflab::time_ms; mind the milliseconds");
}

void sweep(const SweepDevice& device, const std::filesystem::path& folder) {
  const std::vector<Operation> all = operations(device);
  plot::RooflineChart chart;
  chart.title = device.name + ", fp32";
  chart.roofs = {{"fp32", device.gpu.flops_per_second}};
  chart.memory = {{"DRAM", device.gpu.bytes_per_second}};
  rooflab::todo("give the chart both points of each operation, then write it");
}
