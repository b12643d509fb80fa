#include "labs/oracle_support/selection.h"

#include <algorithm>
#include <numeric>

#include "labs/oracle_support/tensors.h"

namespace rooflab {
namespace {

/// The elements of an output that may be compared; nullptr for all. Where none was written, there
/// is nothing to choose among.
const std::vector<ElementRange>* written(const Problem& problem, const std::string& output) {
  const auto found = problem.written.find(output);
  const bool has_some = found != problem.written.end() && !found->second.empty();
  return has_some ? &found->second : nullptr;
}

/// The elements that have the places which `choose` gives among all those of the ranges.
/// @param choose  takes how many there are, gives ascending places
template <typename Choose>
std::vector<std::size_t> elements_at(const std::vector<ElementRange>& ranges, Choose choose) {
  std::size_t count = 0;
  for (const ElementRange& range : ranges) count += range.count;
  std::vector<std::size_t> elements = choose(count);
  auto range = ranges.begin();
  std::size_t before = 0;  // elements of earlier ranges
  for (std::size_t& element : elements) {
    for (; element >= before + range->count; ++range) before += range->count;
    element += range->first - before;
  }
  return elements;
}

/// The rows of `length` elements that lie within the ranges.
std::vector<std::int64_t> whole_rows(const std::vector<ElementRange>& ranges, std::int64_t length) {
  std::vector<std::int64_t> rows;
  for (const ElementRange& range : ranges) {
    const auto first = static_cast<std::int64_t>(range.first);
    const std::int64_t end = (first + static_cast<std::int64_t>(range.count)) / length;
    for (std::int64_t row = (first + length - 1) / length; row < end; ++row) rows.push_back(row);
  }
  return rows;
}

}  // namespace

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

std::vector<std::size_t> selected_elements(const Problem& problem, const std::string& output,
                                           std::size_t most) {
  const std::vector<ElementRange>* ranges = written(problem, output);
  if (ranges == nullptr) {
    const auto all = static_cast<std::size_t>(tensor(problem, output).elements());
    return selected_elements(all, most, problem.selection);
  }
  return elements_at(*ranges, [&](std::size_t count) {
    return listed(selected_elements(count, most, problem.selection), count);
  });
}

std::vector<std::int64_t> selected_rows(const Problem& problem, const std::string& output,
                                        std::int64_t length, std::int64_t sample) {
  const std::vector<ElementRange>* ranges = written(problem, output);
  const std::vector<std::int64_t> whole =
      ranges == nullptr ? std::vector<std::int64_t>{} : whole_rows(*ranges, length);
  if (whole.empty()) {
    const std::int64_t all = tensor(problem, output).elements() / length;
    return selected_rows(all, sample, problem.selection);
  }
  std::vector<std::int64_t> rows;
  for (const std::int64_t at :
       selected_rows(static_cast<std::int64_t>(whole.size()), sample, problem.selection)) {
    rows.push_back(whole[static_cast<std::size_t>(at)]);
  }
  return rows;
}

std::vector<std::size_t> elements_if_vast(const Problem& problem, const std::string& output) {
  constexpr std::size_t kMost = 20'000;
  if (!problem.vast) return {};
  return selected_elements(problem, output, kMost);
}

std::vector<std::size_t> elements_of_rows(const std::vector<std::int64_t>& rows,
                                          std::int64_t length) {
  std::vector<std::size_t> elements;
  elements.reserve(rows.size() * static_cast<std::size_t>(length));
  for (const std::int64_t row : rows) {
    for (std::int64_t i = 0; i < length; ++i) {
      elements.push_back(static_cast<std::size_t>(row * length + i));
    }
  }
  return elements;
}

std::vector<std::size_t> listed(const std::vector<std::size_t>& index, std::size_t count) {
  if (!index.empty()) return index;
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace rooflab
