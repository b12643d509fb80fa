#pragma once

#include <vector>

#include "labs/toolkit/plot/plot.h"

namespace rooflab::plot {

/// Points of one label.
struct Group {
  std::vector<const Point*> points;  ///< in the order of their kinds

  /// The one that carries the label: a run rather than a prediction or a target.
  const Point& named() const;
};

/// In the order of their first points; the groups point into the chart.
std::vector<Group> groups_of(const RooflineChart& chart);

}  // namespace rooflab::plot
