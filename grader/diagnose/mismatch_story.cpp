#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "grader/contract/elements.h"
#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/relation.h"
#include "grader/diagnose/story.h"

namespace rooflab {
namespace {

/// Edges of the thread blocks that kernels commonly have.
constexpr std::array<std::int64_t, 3> kUsualBlocks{8, 16, 32};

Diagnostic story_of_mistake(const KnownMistake& mistake, const TensorCheck& check,
                            const DiagnoseContext& context) {
  Diagnostic story = begin_story(mistake.code, context);
  story.message = mistake.cause;
  story.help = mistake.advice;
  story.notes.push_back(fmt::format(
      "{} are what that mistake gives, within the tolerance",
      context.hidden ? "all elements" : fmt::format("all {} elements", check.got.size())));
  add_effect(story, check, context);
  return story;
}

/// Whether blocks of some usual shape leave out just this tail: when the grid's x and y are
/// swapped, there are as many blocks along the rows as the columns need, and the other way round.
/// @param extent of the dimension that has the tail, which begins at `first`
bool fits_swapped_grid(std::int64_t extent, std::int64_t other, std::int64_t first) {
  const auto blocks = [](std::int64_t size, std::int64_t side) { return (size + side - 1) / side; };
  return std::ranges::any_of(kUsualBlocks, [&](std::int64_t side) {
    return std::ranges::any_of(kUsualBlocks, [&](std::int64_t other_side) {
      const bool covers_other = blocks(extent, side) * other_side >= other;
      return covers_other && blocks(other, other_side) * side == first;
    });
  });
}

/// The same for a grid whose size was rounded down.
bool fits_partial_tile(std::int64_t extent, std::int64_t first) {
  return std::ranges::any_of(kUsualBlocks, [&](std::int64_t block) {
    return extent % block != 0 && extent / block * block == first;
  });
}

/// Whether just the first half, or the first quarter, of each slice is there, whichever dimensions
/// a slice has: what is copied where elements are counted and not their bytes.
bool has_first_part_of_slices(const TensorCheck& missing) {
  if (!missing.index.empty()) return false;  // of a few elements nobody knows the slices
  std::size_t slice = missing.wrong.size();
  for (const std::int64_t extent : missing.shape) {
    slice /= static_cast<std::size_t>(extent);
    if (slice == missing.wrong.size()) continue;  // one slice may as well be a grid's first blocks
    for (const std::size_t parts : {2, 4}) {
      if (slice % parts != 0) continue;
      bool holds = true;
      for (std::size_t i = 0; i < missing.wrong.size() && holds; ++i) {
        holds = missing.wrong[i] == (i % slice >= slice / parts);
      }
      if (holds) return true;
    }
  }
  return false;
}

/// Whether just the first part of an output is there, as much as fits into as many bytes as there
/// are elements of 2 or 4 bytes.
bool is_part_of_counted_elements(const TensorCheck& missing) {
  if (!missing.index.empty()) return false;
  const auto first =
      static_cast<std::size_t>(std::ranges::find(missing.wrong, true) - missing.wrong.begin());
  const std::size_t total = missing.wrong.size();
  if (first == 0 || missing.wrong_count != total - first) return false;
  return first == total / 2 || first == total / 4;
}

/// Whether a vector's first elements are there, as many as a block usually takes, and no others.
bool has_first_block_alone(const TensorCheck& missing) {
  if (missing.shape.size() != 1 || !missing.index.empty()) return false;
  const auto first = std::ranges::find(missing.wrong, true);
  const bool all_behind = std::all_of(first, missing.wrong.end(), [](bool wrong) { return wrong; });
  return all_behind &&
         std::ranges::find(kUsualBlocks, first - missing.wrong.begin()) != kUsualBlocks.end();
}

/// What to look at, from the pattern of the elements that were never written.
const char* help_for_unwritten(const TensorCheck& missing) {
  constexpr std::size_t kFewElements = 4;  // that may all be the rest of a vector or a tile
  if (missing.wrong_count == missing.wrong.size() && missing.wrong.size() < kFewElements) {
    return "so few elements are all a last, partial vector or tile: is it left out? Else, is the "
           "kernel launched, with a grid that is not empty?";
  }
  if (missing.wrong_count == missing.wrong.size()) {
    return "is the kernel launched at all, with a grid that is not empty, and does it store its "
           "result?";
  }
  if (has_first_part_of_slices(missing)) {
    return "of each slice exactly the first part is there: cudaMemcpy and its like count bytes, so "
           "multiply the elements by sizeof";
  }
  const char* const counted =
      "as much is there as a copy makes that is given elements for bytes: cudaMemcpy and "
      "cudaMemset count bytes, so multiply the elements by sizeof. Else, does the grid count "
      "vectors where each thread does a single element?";
  const bool is_counted = is_part_of_counted_elements(missing);
  if (is_counted && missing.shape.size() == 1 && !has_first_block_alone(missing)) return counted;
  if (has_first_block_alone(missing)) {
    return "as many elements are there as one block may take: does the next block start right "
           "behind them? Multiply blockIdx by what a block computes, which need not be blockDim";
  }
  const char* const partial = "does the grid cover the last, partial tile in both directions?";
  const auto tail = wrong_tail(missing);
  if (!tail) return partial;
  const std::int64_t extent = missing.shape[tail->rows ? 0 : 1];
  const std::int64_t other = missing.shape[tail->rows ? 1 : 0];
  if (!fits_swapped_grid(extent, other, tail->first)) return is_counted ? counted : partial;
  if (fits_partial_tile(extent, tail->first)) {
    return "does the grid cover the last, partial tile, and does its x count the columns and its y "
           "the rows?";
  }
  return "are the grid's x and y swapped? x counts the blocks along the columns, y those along the "
         "rows";
}

Diagnostic story_of_unwritten(const TensorCheck& check, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0403", context);
  const std::uint64_t total = std::max<std::uint64_t>(check.searched, check.got.size());
  story.message =
      check.unwritten_count == total
          ? fmt::format("{} was never written", check.tensor)
          : fmt::format("{} of {} were never written",
                        count_text(check.unwritten_count, total, context), check.tensor);
  if (check.searched > 0) {  // among elements that are not compared, too
    if (!context.hidden) {
      story.evidence.push_back("the first is " + element_name(check, check.first_unwritten));
    }
    story.help = "does every thread store, and does the grid cover all elements?";
    return story;
  }
  TensorCheck missing = check;
  missing.wrong = check.unwritten;
  missing.wrong_count = check.unwritten_count;
  story.help = help_for_unwritten(missing);
  add_effect(story, missing, context);
  return story;
}

Diagnostic story_of_nan(const TensorCheck& check, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0402", context);
  story.message = fmt::format("{} of {} are not a number",
                              count_text(check.nan_count, check.got.size(), context), check.tensor);
  if (check.nan_count == check.wrong_count && check.wrong_count < check.wrong.size()) {
    story.notes.emplace_back("all other elements are right");
  }
  story.help =
      "look for a division by zero, the root of a negative number, infinity minus or over "
      "infinity, "
      "or a value that was never set";
  add_effect(story, check, context);
  return story;
}

Diagnostic story_of_relation(const Relation& relation, const TensorCheck& check,
                             const DiagnoseContext& context) {
  Diagnostic story = begin_story(relation.code, context);
  story.message = relation.message;
  story.help = relation.help;
  if (!relation.note.empty()) story.notes.push_back(relation.note);
  add_effect(story, check, context);
  return story;
}

/// Where an expectation speaks of an element. Of a run in part fewer elements are compared than it
/// has.
std::optional<std::size_t> place_in(const Expected& expected, std::size_t element) {
  if (expected.index.empty()) {
    return element < expected.value.size() ? std::optional(element) : std::nullopt;
  }
  const auto found = std::ranges::lower_bound(expected.index, element);
  if (found == expected.index.end() || *found != element) return std::nullopt;
  return static_cast<std::size_t>(found - expected.index.begin());
}

/// Whether only zeros are wrong, by their sign: where a copy is promised, bit for bit.
bool only_lose_signs(const TensorCheck& check) {
  for (std::size_t i = 0; i < check.got.size(); ++i) {
    if (check.wrong[i] && check.got[i] != check.expected[i]) return false;
  }
  return true;
}

/// Whether only NaNs are wrong, by their bits: where a copy is promised, bit for bit.
bool only_change_nans(const TensorCheck& check) {
  for (std::size_t i = 0; i < check.got.size(); ++i) {
    if (check.wrong[i] && !(std::isnan(check.got[i]) && std::isnan(check.expected[i]))) {
      return false;
    }
  }
  return true;
}

/// Of a copy that changes values which compare as if they were the same.
Diagnostic story_of_copy(const std::string& message, const TensorCheck& check,
                         const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0555", context);
  story.message = message;
  story.help =
      "store the value as it was loaded: what is added, multiplied or converted may change it";
  add_effect(story, check, context);
  return story;
}

}  // namespace

bool reproduces(const TensorCheck& check, const KnownMistake& mistake) {
  const auto same_tensor = [&](const Expected& output) { return output.tensor == check.tensor; };
  const auto output = std::find_if(mistake.outputs.begin(), mistake.outputs.end(), same_tensor);
  if (output == mistake.outputs.end()) return false;
  for (std::size_t i = 0; i < check.got.size(); ++i) {
    const auto at = place_in(*output, check.index.empty() ? i : check.index[i]);
    if (!at) return false;
    const double value = output->value[*at];
    // A mistake may make numbers overflow: what is not a number here has to be none there.
    if (std::isnan(check.got[i]) && std::isnan(value)) continue;
    if (!is_within_tolerance(check.got[i], value, output->tolerance[*at])) return false;
  }
  return true;
}

std::size_t evidence_of(const TensorCheck& check, const KnownMistake& mistake) {
  const auto output = std::ranges::find(mistake.outputs, check.tensor, &Expected::tensor);
  if (output == mistake.outputs.end()) return 0;
  std::set<double> values;
  std::size_t not_finite = 0;
  for (std::size_t i = 0; i < check.got.size(); ++i) {
    const auto at = place_in(*output, check.index.empty() ? i : check.index[i]);
    if (!at || !check.wrong[i]) continue;
    if (std::isfinite(output->value[*at])) {
      values.insert(output->value[*at]);
    } else {
      ++not_finite;
    }
  }
  return values.size() + not_finite;
}

Diagnostic explain_mismatch(const TensorCheck& check, const std::vector<KnownMistake>& mistakes,
                            const DiagnoseContext& context) {
  if (check.unwritten_count > 0) return story_of_unwritten(check, context);
  for (const KnownMistake& mistake : mistakes) {
    if (reproduces(check, mistake)) return story_of_mistake(mistake, check, context);
  }
  if (only_change_nans(check)) {
    return story_of_copy(
        fmt::format("NaNs of {} have other bits: a copy keeps those, too", check.tensor), check,
        context);
  }
  if (check.nan_count > 0) return story_of_nan(check, context);
  if (only_lose_signs(check)) {
    return story_of_copy(fmt::format("zeros of {} have another sign: 0 and -0 are two numbers, and "
                                     "a copy keeps them apart",
                                     check.tensor),
                         check, context);
  }
  if (const auto relation = relation_of_values(check, context)) {
    return story_of_relation(*relation, check, context);
  }
  if (const auto relation = relation_of_places(check, context)) {
    return story_of_relation(*relation, check, context);
  }
  Diagnostic story = begin_story("RL0401", context);
  story.message = fmt::format(
      "{} of {} are wrong", count_text(check.wrong_count, check.got.size(), context), check.tensor);
  story.help = "take the smallest case that fails and work out its first wrong element by hand";
  add_effect(story, check, context);
  return story;
}

bool names_cause(const Diagnostic& story) {
  constexpr std::array<Code, 14> kLooks{"RL0401", "RL0402", "RL0403", "RL0404", "RL0407",
                                        "RL0409", "RL0410", "RL0432", "RL0433", "RL0434",
                                        "RL0435", "RL0436", "RL0437", "RL0528"};
  return std::ranges::find(kLooks, story.code) == kLooks.end();
}

bool tells_more_than_wrong(const Diagnostic& story) {
  constexpr std::array<Code, 3> kWrong{"RL0401", "RL0402", "RL0407"};
  return std::ranges::find(kWrong, story.code) == kWrong.end();
}

Diagnostic explain_changed_input(const std::string& tensor, std::uint64_t changed,
                                 std::uint64_t total, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0405", context);
  story.message = fmt::format("the input {} was changed", tensor);
  story.evidence.push_back(fmt::format("{} of {} are not what was passed in",
                                       count_text(changed, total, context), tensor));
  story.help =
      "write only to the output; const on the kernel's input pointers lets the compiler find this";
  return story;
}

}  // namespace rooflab
