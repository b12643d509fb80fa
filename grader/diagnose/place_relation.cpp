#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "grader/diagnose/relation.h"

namespace rooflab {
namespace {

/// Edges of the tiles that kernels commonly have, largest first.
constexpr std::array<std::size_t, 6> kTiles{128, 64, 32, 16, 8, 4};
/// Steps that lanes, vectors and unrolled loops commonly have.
constexpr std::array<std::size_t, 5> kPeriods{2, 4, 8, 16, 32};

/// How many elements are wrong at each place of one axis; the others are summed over.
struct Along {
  std::vector<std::uint64_t> wrong;
  std::uint64_t of_each = 0;  ///< elements at one place

  bool is_right(std::size_t i) const { return wrong[i] == 0; }
  bool is_wrong(std::size_t i) const { return 2 * wrong[i] > of_each; }
};

Along along(const TensorCheck& check, std::size_t axis) {
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < check.shape.size(); ++d) {
    inner *= static_cast<std::size_t>(check.shape[d]);
  }
  const auto extent = static_cast<std::size_t>(check.shape[axis]);
  Along counts{std::vector<std::uint64_t>(extent), check.wrong.size() / extent};
  for (std::size_t i = 0; i < check.wrong.size(); ++i) {
    counts.wrong[i / inner % extent] += check.wrong[i];
  }
  return counts;
}

/// The first place from which on all are wrong, and none before; the extent when there is none.
/// Of many wrong values a few come near the right ones by chance.
std::size_t first_of_wrong_end(const Along& counts) {
  constexpr std::size_t kPlacesPerChance = 200;
  const std::size_t extent = counts.wrong.size();
  std::size_t first = 0;
  while (first < extent && counts.is_right(first)) ++first;
  if (first == extent || !counts.is_wrong(first)) return extent;
  std::size_t by_chance = 0;
  for (std::size_t i = first; i < extent; ++i) by_chance += counts.is_wrong(i) ? 0 : 1;
  return by_chance <= (extent - first) / kPlacesPerChance ? first : extent;
}

std::string name_of(const TensorCheck& check, std::size_t axis) {
  if (axis + 1 == check.shape.size()) return check.shape.size() == 1 ? "elements" : "columns";
  if (check.shape.size() == 2) return "rows";
  return fmt::format("places along dimension {}", axis);
}

std::optional<Relation> wrong_end(const TensorCheck& check, std::size_t axis, const Along& counts,
                                  const DiagnoseContext& context) {
  const std::size_t extent = counts.wrong.size();
  const std::size_t first = first_of_wrong_end(counts);
  if (first == 0 || first == extent) return {};
  const std::string where = context.hidden ? "" : fmt::format(", from {} on", first);
  const auto ends_whole_tiles = [&](std::size_t tile) {
    return extent % tile != 0 && extent / tile * tile == first;
  };
  // Of more dimensions, what comes later often has more to sum up, too: a token sees more keys.
  if (check.shape.size() <= 2 && std::ranges::any_of(kTiles, ends_whole_tiles)) {
    return Relation{"RL0436",
                    fmt::format("only the {} of the last, partial tile are wrong{}",
                                name_of(check, axis), where),
                    "what is there when a tile is not whole? Round counts of tiles up, guard loads "
                    "and stores, and fill what lies beyond the edge with what adds nothing"};
  }
  // Along the middle dimensions may lie tokens, of which the first alone sees no others.
  const bool between = axis > 0 && axis + 1 < check.shape.size();
  if (first == 1 && !between) {
    return Relation{
        "RL0434",
        fmt::format("the first of the {} is right, and all others are wrong", name_of(check, axis)),
        "is the first one right for any program, such as position 0 or a row that sees one key? "
        "Else an index that is 0 for the first one is missing from an address or has the wrong "
        "factor, or something of the first one is kept for the next"};
  }
  if (std::ranges::find(kTiles, first) != kTiles.end() || first % kTiles.front() == 0) {
    return Relation{
        "RL0437",
        fmt::format("the first {}{} are right, and all behind them are wrong",
                    context.hidden ? "" : fmt::format("{} ", first), name_of(check, axis)),
        "as many as a block, a warp or a tile takes at once: does the loop go on, does every step "
        "start where it should, and is what one step leaves for the next brought up to date?"};
  }
  return {};
}

/// Only every n-th place is right, or only every n-th is wrong.
std::optional<Relation> periodic(const TensorCheck& check, std::size_t axis, const Along& counts) {
  const std::size_t extent = counts.wrong.size();
  for (const std::size_t period : kPeriods) {
    if (extent < 2 * period) return {};
    std::vector<bool> residue_wrong(period);
    bool holds = true;
    for (std::size_t i = 0; i < extent && holds; ++i) {
      if (i < period) residue_wrong[i] = counts.is_wrong(i);
      holds = residue_wrong[i % period] ? counts.is_wrong(i) : counts.is_right(i);
    }
    const auto wrong = std::ranges::count(residue_wrong, true);
    if (!holds || wrong == 0 || wrong == static_cast<std::ptrdiff_t>(period)) continue;
    return Relation{
        "RL0437",
        fmt::format("{} of every {} {} are wrong, always the same ones", wrong, period,
                    name_of(check, axis)),
        "what is done in steps of that size? A vector's parts, the lanes of a warp, an unrolled "
        "loop: one of them reads or stores the wrong place"};
  }
  return {};
}

}  // namespace

std::optional<Relation> relation_of_places(const TensorCheck& check,
                                           const DiagnoseContext& context) {
  if (check.shape.empty() || !check.index.empty() || check.wrong.empty()) return {};
  if (check.wrong_count == check.wrong.size()) return {};
  for (std::size_t axis = check.shape.size(); axis-- > 0;) {
    const Along counts = along(check, axis);
    if (auto relation = wrong_end(check, axis, counts, context)) return relation;
    if (auto relation = periodic(check, axis, counts)) return relation;
  }
  return {};
}

}  // namespace rooflab
