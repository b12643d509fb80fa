#include "labs/oracle_support/selection.h"

#include <algorithm>
#include <numeric>

#include "labs/oracle_support/tensors.h"

namespace rooflab {

std::vector<std::size_t> selected_elements(std::size_t count, std::size_t most,
                                           std::uint64_t selection) {
  constexpr std::size_t kEdge = 100;
  if (count <= std::max(most, 2 * kEdge)) return {};
  std::vector<std::size_t> index;
  index.reserve(most + 2 * kEdge);
  for (std::size_t i = 0; i < kEdge; ++i) {
    index.push_back(i);
    index.push_back(count - 1 - i);
  }
  Random random(selection);
  for (std::size_t i = 0; i < most; ++i) index.push_back(random() % count);
  std::ranges::sort(index);
  const auto repeated = std::ranges::unique(index);
  index.erase(repeated.begin(), repeated.end());
  return index;
}

std::vector<std::int64_t> selected_rows(std::int64_t count, std::int64_t sample,
                                        std::uint64_t selection) {
  constexpr std::int64_t kAtEachEnd = 16;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  if (sample >= count) return rows;
  Random random(selection);
  // Fisher and Yates, for as many as are wanted between the two ends.
  for (std::int64_t i = kAtEachEnd; i < sample - kAtEachEnd; ++i) {
    const auto left = static_cast<std::uint64_t>(count - kAtEachEnd - i);
    std::swap(rows[i], rows[i + static_cast<std::int64_t>(random() % left)]);
  }
  rows.erase(rows.begin() + (sample - kAtEachEnd), rows.end() - kAtEachEnd);
  std::ranges::sort(rows);
  return rows;
}

std::vector<std::size_t> listed(const std::vector<std::size_t>& index, std::size_t count) {
  if (!index.empty()) return index;
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace rooflab
