#pragma once

#include "labs/toolkit/plot/plot.h"

namespace rooflab::plot {

/// How much one chart can show.
inline constexpr std::size_t kMostPoints = 256, kMostRoofs = 12, kMostMemoryLevels = 6;
inline constexpr std::size_t kMostSeries = 8, kMostSizes = 32;
inline constexpr std::size_t kLongestLabel = 200;  ///< bytes

/// Refuse a chart that cannot be drawn. @throws std::invalid_argument naming entry and fault.
void check_chart(const RooflineChart& chart);
void check_chart(const LatencyChart& chart);
void check_chart(const AttentionChart& chart);

}  // namespace rooflab::plot
