#include "labs/toolkit/plot/series.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rooflab::plot {

Range range_of(const std::vector<Series>& all) {
  Range range{INFINITY, 0};
  for (const Series& series : all) {
    for (const double value : series.values) {
      if (value == kOutOfMemory) continue;
      range = {std::min(range.least, value), std::max(range.most, value)};
    }
  }
  return range.most > 0 ? range : Range{};
}

bool has_missing(const std::vector<Series>& all) {
  return std::any_of(all.begin(), all.end(), [](const Series& series) {
    return std::count(series.values.begin(), series.values.end(), kOutOfMemory) > 0;
  });
}

std::string color_class(std::size_t index) {
  static constexpr std::array kClasses{"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"};
  return kClasses[index % kClasses.size()];
}

LegendEntry series_entry(std::size_t index, const std::string& label) {
  static constexpr std::array kMarkers{Marker::circle, Marker::square, Marker::diamond,
                                       Marker::triangle};
  const bool filled = index / kMarkers.size() % 2 == 0;
  return {color_class(index) + (filled ? " filled" : " hollow"), kMarkers[index % kMarkers.size()],
          label};
}

LegendEntry out_of_memory_entry() { return {"missing", Marker::cross, "out of memory"}; }

}  // namespace rooflab::plot
