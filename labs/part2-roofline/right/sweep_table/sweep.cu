#include "sweep.h"

#include <array>
#include <string_view>

#include "roofline_model.h"
#include "stream.h"
#include "toolkit/linear.h"
#include "toolkit/timing.h"

namespace {

namespace plot = rooflab::plot;

enum class What { product, scale, triad };

struct Row {
  std::string_view label;
  What what;
  std::int64_t rows, width;  // of a product: x is (rows, width) and the weight (width, width)
  double flops, elements;    // elements that cross DRAM
};

constexpr Row product(std::string_view label, std::int64_t rows, std::int64_t width) {
  const double m = static_cast<double>(rows), n = static_cast<double>(width);
  return {label, What::product, rows, width, 2 * m * n * n, m * n + n * n + m * n};
}

constexpr double kElements = static_cast<double>(kSweepElements);
constexpr std::array<Row, 7> kRows = {{
    product("gemm 1024", 1024, 1024),
    product("gemm 2048", 2048, 2048),
    product("gemm 4096", 4096, 4096),
    product("gemm 8192", 8192, 8192),
    product("gemv 8192", 1, 8192),
    {"scale 2^26", What::scale, 0, 0, kElements, 2 * kElements},
    {"triad 2^26", What::triad, 0, 0, 2 * kElements, 3 * kElements},
}};

void run(const Row& row, const SweepDevice& device) {
  const int width = static_cast<int>(row.width);
  switch (row.what) {
    case What::product:
      rooflab::linear(device.cublas, device.x, device.y, device.out, static_cast<int>(row.rows),
                      width, width, nullptr);
      break;
    case What::scale:
      stream::scale(device.x, -0.5f, device.out, kSweepElements);
      break;
    case What::triad:
      stream::triad(device.y, device.x, 1.5f, device.out, kSweepElements);
      break;
  }
}

}  // namespace

void sweep(const SweepDevice& device, const std::filesystem::path& folder) {
  plot::RooflineChart chart{.title = "Seven operations on " + device.name,
                            .roofs = {{"fp32", device.gpu.flops_per_second}},
                            .memory = {{"DRAM", device.gpu.bytes_per_second}},
                            .points = {}};
  for (const Row& row : kRows) {
    const double intensity = row.flops / (row.elements * sizeof(float));
    const double seconds = rooflab::time_ms([&] { run(row, device); }, 2, 4) * 1e-3;
    const std::string label(row.label);
    chart.points.push_back({label, intensity, row.flops / seconds, device.kind});
    chart.points.push_back(
        {label, intensity, attainable(device.gpu, intensity), plot::PointKind::predicted});
  }
  plot::write(chart, folder / "roofline");
}
