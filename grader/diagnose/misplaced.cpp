#include "grader/diagnose/misplaced.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rooflab {
namespace {

/// A line of fewer elements would be found among others by chance.
constexpr std::size_t kShortestLine = 2;
/// Comparing lines is work of their number squared, at worst.
constexpr std::size_t kMostLines = 16384;
constexpr std::size_t kMostCandidates = 64;  ///< of one line, by its first element

/// The rows of a tensor, or its columns.
struct Lines {
  std::size_t count, length;
  std::size_t step_of_line, step_in_line;
  std::size_t at(std::size_t line, std::size_t i) const {
    return line * step_of_line + i * step_in_line;
  }
};

bool is_value_of(const TensorCheck& check, std::size_t got, std::size_t expected) {
  return std::abs(check.got[got] - check.expected[expected]) <= check.tolerance[expected];
}

bool is_line_of(const TensorCheck& check, const Lines& lines, std::size_t got,
                std::size_t expected) {
  for (std::size_t i = 0; i < lines.length; ++i) {
    if (!is_value_of(check, lines.at(got, i), lines.at(expected, i))) return false;
  }
  return true;
}

/// For each line the one whose right values it holds: itself, where it is right. Empty when a line
/// holds none.
std::vector<std::size_t> sources_of(const TensorCheck& check, const Lines& lines) {
  std::vector<std::size_t> by_first(lines.count);
  std::iota(by_first.begin(), by_first.end(), 0);
  const auto first_value = [&](std::size_t line) { return check.expected[lines.at(line, 0)]; };
  std::ranges::sort(by_first, {}, first_value);
  const double widest = *std::ranges::max_element(check.tolerance);
  std::vector<std::size_t> sources;
  for (std::size_t line = 0; line < lines.count; ++line) {
    if (is_line_of(check, lines, line, line)) {
      sources.push_back(line);
      continue;
    }
    const double got = check.got[lines.at(line, 0)];
    const auto from = std::ranges::lower_bound(by_first, got - widest, {}, first_value);
    const auto to = std::ranges::upper_bound(by_first, got + widest, {}, first_value);
    if (to - from > static_cast<std::ptrdiff_t>(kMostCandidates)) return {};
    const auto found = std::find_if(
        from, to, [&](std::size_t other) { return is_line_of(check, lines, line, other); });
    if (found == to) return {};
    sources.push_back(*found);
  }
  return sources;
}

/// The smallest period that all lines repeat with, as the first ones; 0 when there is none.
std::size_t period_of(const std::vector<std::size_t>& sources) {
  const std::size_t count = sources.size();
  for (std::size_t period = 1; period < count; ++period) {
    if (count % period != 0) continue;
    bool repeats = true;
    for (std::size_t i = 0; i < count && repeats; ++i) repeats = sources[i] == i % period;
    if (repeats) return period;
  }
  return 0;
}

Relation told(const char* name, const TensorCheck& check, const std::vector<std::size_t>& sources,
              const DiagnoseContext& context) {
  if (const std::size_t period = period_of(sources); period > 0) {
    const char* const help =
        "the address lacks an index: of the row, the head or the batch. Write down the offset of "
        "element 0 of the second one";
    if (period == 1) {
      return {"RL0434",
              fmt::format("every {} of {} holds what belongs in the first one", name, check.tensor),
              help};
    }
    const std::string first = context.hidden ? "the first" : fmt::format("the first {}", period);
    return {"RL0434",
            fmt::format("{} {}s of {} are repeated where others belong", first, name, check.tensor),
            help};
  }
  std::string message =
      fmt::format("the {}s of {} hold right values, in the wrong places", name, check.tensor);
  if (!context.hidden) {
    std::size_t line = 0;
    while (sources[line] == line) ++line;
    message += fmt::format(": {} {} holds what belongs in {} {}", name, line, name, sources[line]);
  }
  return {"RL0433", message,
          "which index runs fastest, and in what order do the dimensions lie? Compute the offset "
          "of one element by hand, where it is read and where it is stored"};
}

std::optional<Relation> moved_lines(const char* name, const TensorCheck& check, const Lines& lines,
                                    const DiagnoseContext& context) {
  if (lines.length < kShortestLine || lines.count < 2 || lines.count > kMostLines) return {};
  const std::vector<std::size_t> sources = sources_of(check, lines);
  if (sources.empty()) return {};
  return told(name, check, sources, context);
}

/// Whether the tensor holds the right values as if axes `axis` and `axis + 1` were swapped.
bool has_swapped_axes(const TensorCheck& check, std::size_t axis) {
  const auto rows = static_cast<std::size_t>(check.shape[axis]);
  const auto columns = static_cast<std::size_t>(check.shape[axis + 1]);
  if (rows < 2 || columns < 2) return false;
  std::size_t depth = 1;
  for (std::size_t d = axis + 2; d < check.shape.size(); ++d) {
    depth *= static_cast<std::size_t>(check.shape[d]);
  }
  for (std::size_t i = 0; i < check.got.size(); ++i) {
    const std::size_t inner = i % depth, column = i / depth % columns;
    const std::size_t row = i / depth / columns % rows, outer = i / depth / columns / rows;
    const std::size_t stored = ((outer * columns + column) * rows + row) * depth + inner;
    if (!is_value_of(check, stored, i)) return false;
  }
  return true;
}

std::optional<Relation> swapped_axes(const TensorCheck& check) {
  for (std::size_t axis = 0; axis + 1 < check.shape.size(); ++axis) {
    if (!has_swapped_axes(check, axis)) continue;
    return Relation{"RL0433",
                    fmt::format("{} holds the right values as if dimensions {} and {} of its shape "
                                "were swapped",
                                check.tensor, axis, axis + 1),
                    "compare the order of the dimensions in the interface with that in the offset "
                    "of an element"};
  }
  return {};
}

/// A matrix whose square tiles are each transposed.
std::optional<Relation> transposed_tiles(const TensorCheck& check) {
  if (check.shape.size() != 2) return {};
  const auto rows = static_cast<std::size_t>(check.shape[0]);
  const auto columns = static_cast<std::size_t>(check.shape[1]);
  for (const std::size_t tile : {2, 4, 8, 16, 32}) {
    if (rows % tile != 0 || columns % tile != 0) continue;
    bool holds = true;
    for (std::size_t i = 0; i < check.got.size() && holds; ++i) {
      const std::size_t row = i / columns, column = i % columns;
      const std::size_t from =
          (row / tile * tile + column % tile) * columns + column / tile * tile + row % tile;
      holds = is_value_of(check, i, from);
    }
    if (!holds) continue;
    return Relation{
        "RL0433",
        fmt::format("each tile of {} x {} elements of {} is transposed", tile, tile, check.tensor),
        "rows and columns are swapped where a thread or a block stores what it computed"};
  }
  return {};
}

/// A vector whose every element holds what belongs next to it.
std::optional<Relation> shifted_vector(const TensorCheck& check) {
  const std::size_t count = check.got.size();
  const auto is_shifted = [&](std::size_t got, std::size_t expected) {
    for (std::size_t i = 0; i + 1 < count; ++i) {
      if (!is_value_of(check, i + got, i + expected)) return false;
    }
    return true;
  };
  const bool early = is_shifted(0, 1);
  if (!early && !is_shifted(1, 0)) return {};
  return Relation{"RL0433",
                  fmt::format("every element of {} holds what belongs in the {} one", check.tensor,
                              early ? "next" : "previous"),
                  "an index is off by one, where the values are read or where they are stored"};
}

}  // namespace

std::optional<Relation> misplaced_values(const TensorCheck& check, const DiagnoseContext& context) {
  if (check.shape.empty() || !check.index.empty()) return {};
  if (auto swapped = swapped_axes(check)) return swapped;
  if (auto transposed = transposed_tiles(check)) return transposed;
  const auto columns = static_cast<std::size_t>(check.shape.back());
  const std::size_t rows = check.got.size() / columns;
  if (rows == 1 || columns == 1) return shifted_vector(check);
  if (auto moved = moved_lines("row", check, {rows, columns, columns, 1}, context)) return moved;
  return moved_lines("column", check, {columns, rows, 1, columns}, context);
}

}  // namespace rooflab
