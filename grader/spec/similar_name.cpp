#include "grader/spec/similar_name.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace rooflab {
namespace {

/// Longer names are nobody's slip, and the comparison takes the product of both lengths.
constexpr std::size_t kLongestName = 64;
/// Of a name's letters, how many may be wrong: one in three.
constexpr std::size_t kLettersPerSlip = 3;

/// Letters to insert, remove, replace or exchange with their neighbour to make one of the other.
std::size_t changes_between(std::string_view one, std::string_view other) {
  std::vector<std::size_t> before_last(other.size() + 1);
  std::vector<std::size_t> last(other.size() + 1);
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= one.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool exchanged =
          i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (exchanged) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last.back();
}

}  // namespace

std::vector<std::string> closest_names(std::string_view name,
                                       const std::vector<std::string>& candidates) {
  if (name.size() > kLongestName) return {};
  std::vector<std::string> closest;
  std::size_t fewest = name.size() / kLettersPerSlip;  // more are too many
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const std::size_t changes = changes_between(name, candidate);
    if (changes > fewest) continue;
    if (changes < fewest) closest.clear();
    closest.push_back(candidate);
    fewest = changes;
  }
  return closest;
}

std::string similar_name(std::string_view name, const std::vector<std::string>& candidates) {
  const std::vector<std::string> closest = closest_names(name, candidates);
  return closest.size() == 1 ? closest.front() : std::string();
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string meant = similar_name(name, candidates);
  return meant.empty() ? std::string() : "; did you mean " + meant + "?";
}

}  // namespace rooflab
