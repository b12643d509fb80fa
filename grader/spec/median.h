#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace rooflab {

/// The middle of the values, or the mean of the two in the middle; 0 when there is none.
inline double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace rooflab
