#pragma once

#include <vector>

#include "labs/toolkit/plot/log_axis.h"
#include "labs/toolkit/plot/outline.h"
#include "labs/toolkit/plot/plot.h"

namespace rooflab::plot {

/// Arithmetic intensity and performance.
struct RooflineAxes {
  LogAxis x, y;

  Place at(double intensity, double flops_per_second) const {
    return {x.at(intensity), y.at(flops_per_second)};
  }
};

/// The axes along the sides of `plot`. They follow from the roofs and the memory levels alone, so
/// that two charts of one GPU can be compared.
RooflineAxes roofline_axes(const std::vector<Roof>& roofs, const std::vector<MemoryLevel>& memory,
                           const Box& plot);

/// Where the first memory level that reaches a roof meets it.
double first_ridge(const Roof& roof, const std::vector<MemoryLevel>& memory);
const Roof& highest_of(const std::vector<Roof>& roofs);

}  // namespace rooflab::plot
