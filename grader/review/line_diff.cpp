#include "grader/review/line_diff.h"

#include <algorithm>

namespace rooflab {
namespace {

using Lines = std::vector<std::string_view>;

constexpr int kMostDifferences = 1500;

/// Which lines of two texts are the same, by the greedy algorithm of Myers ("An O(ND) Difference
/// Algorithm", 1986).
class Search {
 public:
  Search(const Lines& old_lines, std::size_t old_begin, std::size_t old_end, const Lines& new_lines,
         std::size_t new_begin, std::size_t new_end)
      : old_(old_lines.begin() + static_cast<std::ptrdiff_t>(old_begin),
             old_lines.begin() + static_cast<std::ptrdiff_t>(old_end)),
        new_(new_lines.begin() + static_cast<std::ptrdiff_t>(new_begin),
             new_lines.begin() + static_cast<std::ptrdiff_t>(new_end)) {}

  /// Pairs of positions, ascending; none where too much differs.
  std::vector<std::pair<int, int>> same_lines() {
    const int most = std::min(old_size() + new_size(), kMostDifferences);
    std::vector<int> furthest(static_cast<std::size_t>(2 * most + 3), 0);
    const auto at = [&](int diagonal) -> int& {
      return furthest[static_cast<std::size_t>(diagonal + most + 1)];
    };
    for (int differences = 0; differences <= most; ++differences) {
      std::vector<int> row;
      for (int diagonal = -differences; diagonal <= differences; diagonal += 2) {
        const bool down = diagonal == -differences ||
                          (diagonal != differences && at(diagonal - 1) < at(diagonal + 1));
        int x = down ? at(diagonal + 1) : at(diagonal - 1) + 1;
        x = along(x, x - diagonal);
        at(diagonal) = x;
        row.push_back(x);
        if (x >= old_size() && x - diagonal >= new_size()) {
          reached_.push_back(std::move(row));
          return way_back(diagonal);
        }
      }
      reached_.push_back(std::move(row));
    }
    return {};
  }

 private:
  int old_size() const { return static_cast<int>(old_.size()); }
  int new_size() const { return static_cast<int>(new_.size()); }

  /// As far as lines are the same.
  int along(int x, int y) const {
    while (x < old_size() && y < new_size() && y >= 0 &&
           old_[static_cast<std::size_t>(x)] == new_[static_cast<std::size_t>(y)]) {
      ++x, ++y;
    }
    return x;
  }

  /// How far `differences` steps came on a diagonal; before the first of them and beside the
  /// others, nowhere.
  int reached(int differences, int diagonal) const {
    if (differences < 0) return 0;
    if (diagonal < -differences || diagonal > differences) return -1;
    return reached_[static_cast<std::size_t>(differences)]
                   [static_cast<std::size_t>((diagonal + differences) / 2)];
  }

  std::vector<std::pair<int, int>> way_back(int diagonal) const {
    std::vector<std::pair<int, int>> same;
    for (int differences = static_cast<int>(reached_.size()) - 1; differences >= 0; --differences) {
      int x = reached(differences, diagonal);
      int begin = 0;
      int before = diagonal;
      if (differences > 0) {
        const int below = reached(differences - 1, diagonal + 1);
        const int left = reached(differences - 1, diagonal - 1);
        const bool down = diagonal == -differences || (diagonal != differences && left < below);
        before = down ? diagonal + 1 : diagonal - 1;
        begin = down ? below : left + 1;
      }
      for (; x > begin; --x) same.emplace_back(x - 1, x - 1 - diagonal);
      diagonal = before;
    }
    std::ranges::reverse(same);
    return same;
  }

  Lines old_, new_;
  std::vector<std::vector<int>> reached_;
};

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<DiffLine> diff_lines(std::string_view starter, std::string_view submission) {
  const Lines old_lines = lines_of(starter), new_lines = lines_of(submission);
  std::size_t begin = 0;
  const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
  while (begin < shorter && old_lines[begin] == new_lines[begin]) ++begin;
  std::size_t tail = 0;
  while (tail < shorter - begin &&
         old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail]) {
    ++tail;
  }
  const std::size_t old_end = old_lines.size() - tail, new_end = new_lines.size() - tail;
  std::vector<DiffLine> lines;
  std::size_t old_at = 0, new_at = 0;
  const auto add_new = [&](LineOrigin origin) {
    lines.push_back({origin, static_cast<std::uint32_t>(new_at + 1), new_lines[new_at]});
    ++new_at;
  };
  const auto catch_up = [&](std::size_t old_to, std::size_t new_to) {
    for (; old_at < old_to; ++old_at) {
      lines.push_back({LineOrigin::starter, 0, old_lines[old_at]});
    }
    while (new_at < new_to) add_new(LineOrigin::submission);
  };
  const auto keep = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i, ++old_at) add_new(LineOrigin::both);
  };
  keep(begin);
  for (const auto& [x, y] :
       Search(old_lines, begin, old_end, new_lines, begin, new_end).same_lines()) {
    catch_up(begin + static_cast<std::size_t>(x), begin + static_cast<std::size_t>(y));
    keep(1);
  }
  catch_up(old_end, new_end);
  keep(tail);
  return lines;
}

}  // namespace rooflab
