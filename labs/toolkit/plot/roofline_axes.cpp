#include "labs/toolkit/plot/roofline_axes.h"

#include <algorithm>
#include <cmath>

namespace rooflab::plot {

// x shows 0.01 FLOP/B, less than any operation on fp32 values has, at least two decades left of
// the first ridge and one right of the last. y shows what is left of the slowest memory level at
// the left end, and room for labels above the highest roof.
RooflineAxes roofline_axes(const std::vector<Roof>& roofs, const std::vector<MemoryLevel>& memory,
                           const Box& plot) {
  double lowest = INFINITY, highest = 0, slowest = INFINITY, fastest = 0;
  for (const Roof& roof : roofs) {
    lowest = std::min(lowest, roof.flops_per_second);
    highest = std::max(highest, roof.flops_per_second);
  }
  for (const MemoryLevel& level : memory) {
    slowest = std::min(slowest, level.bytes_per_second);
    fastest = std::max(fastest, level.bytes_per_second);
  }
  const double left = std::min(-2.0, std::floor(std::log10(lowest / fastest) - 2));
  const double right = std::max(left + 4, std::ceil(std::log10(highest / slowest) + 1));
  const double bottom = std::floor(std::log10(slowest) + left - 0.5);
  const double top = std::ceil(std::log10(2 * highest));
  return {LogAxis(std::pow(10, left), std::pow(10, right), plot.x, plot.x + plot.width),
          LogAxis(std::pow(10, bottom), std::pow(10, top), plot.y + plot.height, plot.y)};
}

double first_ridge(const Roof& roof, const std::vector<MemoryLevel>& memory) {
  double first = INFINITY;
  for (const MemoryLevel& level : memory) {
    first = std::min(first, roof.flops_per_second / level.bytes_per_second);
  }
  return first;
}

const Roof& highest_of(const std::vector<Roof>& roofs) {
  return *std::max_element(roofs.begin(), roofs.end(), [](const Roof& a, const Roof& b) {
    return a.flops_per_second < b.flops_per_second;
  });
}

}  // namespace rooflab::plot
