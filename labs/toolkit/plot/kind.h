#pragma once

#include <array>

#include "labs/toolkit/plot/plot.h"

namespace rooflab::plot {

inline constexpr std::array kAllKinds{PointKind::predicted, PointKind::modelled,
                                      PointKind::measured, PointKind::target};

/// As in JSON, CSV and the legend.
constexpr const char* name_of(PointKind kind) {
  switch (kind) {
    case PointKind::predicted:
      return "predicted";
    case PointKind::modelled:
      return "modelled";
    case PointKind::measured:
      return "measured";
    case PointKind::target:
      return "target";
  }
  return "";
}

}  // namespace rooflab::plot
