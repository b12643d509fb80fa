#include "grader/mutation/mutant_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ranges>
#include <set>
#include <tuple>

#include "grader/mutation/words.h"

namespace rooflab::mutation {
namespace {

/// "`<=`", but words as they are.
std::string quoted(const std::string& after) {
  constexpr std::size_t kLongestSign = 2;
  return after.size() > kLongestSign ? after : fmt::format("`{}`", after);
}

std::string change_of_arithmetic(const Mutant& mutant) {
  const std::string& before = mutant.before;
  const std::string& after = mutant.after;
  if (after == "the left side alone") {
    return fmt::format("without the `{}` and what is right of it", before);
  }
  if (after == "the right side alone") {
    return fmt::format("without the `{}` and what is left of it", before);
  }
  if (after == "the sides exchanged")
    return fmt::format("with the two sides of `{}` exchanged", before);
  if (after == "one more") return fmt::format("with 1 added to what `{}` gives", before);
  if (after == "one less") return fmt::format("with 1 subtracted from what `{}` gives", before);
  if (after == "rounding up") return fmt::format("with the quotient of `{}` rounded up", before);
  if (after.ends_with("twice")) return fmt::format("with {} of `{}`", after, before);
  return fmt::format("with {} in place of `{}`", quoted(after), before);
}

/// The change, which makes all results right: "with `<=` in place of `<`".
std::string change_of(const Mutant& mutant, double value) {
  const std::string& before = mutant.before;
  const std::string& after = mutant.after;
  const auto in_place = [&] { return fmt::format("with `{}` in place of `{}`", after, before); };
  const std::string subject = before == "the value" ? before : fmt::format("`{}`", before);
  switch (mutant.kind) {
    case MutantKind::number:
      if (mutant.is_any_value)
        return fmt::format("with about {:.6g} in place of `{}`", value, before);
      return in_place();
    case MutantKind::trivial:
    case MutantKind::comparison:
    case MutantKind::name:
    case MutantKind::update:
    case MutantKind::exchange:
    case MutantKind::argument:
      return in_place();
    case MutantKind::reset:
      return fmt::format("with `{} = {}` at the beginning of each turn", before, after);
    case MutantKind::arithmetic:
      return change_of_arithmetic(mutant);
    case MutantKind::grid_step:
      return fmt::format("with `{}` behind the step `{}`", after, before);
    case MutantKind::bound:
      return "with " + after;
    case MutantKind::scale:
      return fmt::format("with `{}` behind {}", after, subject);
    case MutantKind::function:
      return fmt::format("with {} in place of `{}`", quoted(after), before);
    case MutantKind::condition:
      return fmt::format("with {} in place of the condition `{}`",
                         after == "its opposite" ? after : fmt::format("`{}`", after), before);
    case MutantKind::conjunct:
      return fmt::format("without `{}` in the condition", before);
    case MutantKind::order:
      return fmt::format("with `{}` before `{}`", after, before);
    case MutantKind::left_out:
      return fmt::format("without the statement `{}`", before);
  }
  return {};
}

/// What is wrong, where the change leaves little else: the limit of a comparison, two names in each
/// other's place, a name of the same type, two statements in the wrong order. Other changes may
/// only agree with a mistake elsewhere: a count with the step of a loop, a factor with an index. An
/// empty text then.
std::string claim_of(const Mutant& mutant) {
  const std::string& before = mutant.before;
  switch (mutant.kind) {
    case MutantKind::comparison:
      if (mutant.before + "=" != mutant.after && mutant.after + "=" != mutant.before) return {};
      return fmt::format("the comparison `{}`", before);
    case MutantKind::name:
      return is_constant(mutant.after) ? "" : fmt::format("`{}`", before);
    case MutantKind::exchange:
      return fmt::format("the order of `{}`", before);
    case MutantKind::order:
      return "the order of two statements";
    default:
      return {};
  }
}

std::string question_of(MutantKind kind) {
  switch (kind) {
    case MutantKind::comparison:
      return "ask what should happen where both sides are equal, and for the first and last index";
    case MutantKind::grid_step:
      return "in a grid-stride loop all blocks share the elements: its step is the number of all "
             "threads, gridDim.x * blockDim.x";
    case MutantKind::number:
    case MutantKind::trivial:
      return "ask where this number comes from, and what it counts";
    case MutantKind::name:
    case MutantKind::exchange:
      return "say in words what each name of this line counts, and which of them is meant";
    case MutantKind::arithmetic:
    case MutantKind::update:
    case MutantKind::scale:
    case MutantKind::function:
    case MutantKind::argument:
      return "work out this line by hand for the smallest problem, and compare with the formula";
    case MutantKind::reset:
      return "ask what each turn of this loop computes anew, and what goes on from the turn before";
    case MutantKind::bound:
      return "ask which threads get here, and whether there is an element for each of them";
    case MutantKind::condition:
    case MutantKind::conjunct:
      return "say in words for which threads or elements this has to hold";
    case MutantKind::order:
      return "ask which of the two needs what the other one changes";
    case MutantKind::left_out:
      return "ask what this statement is for, and who has done that already";
  }
  return "";
}

std::set<std::uint32_t> lines_of(const std::vector<RightMutant>& right) {
  std::set<std::uint32_t> lines;
  for (const RightMutant& each : right) lines.insert(each.mutants.front().line);
  return lines;
}

/// What is told of the change that explains best.
void tell_of(const RightMutant& right, bool is_sure, const std::string& outcome,
             OperationWords& words) {
  const Mutant& mutant = right.mutants.front();
  const std::string change = change_of(mutant, right.value);
  const std::string claim = is_sure ? claim_of(mutant) : "";
  words.help = "the mistake is here, or in something that has to agree with this line: " +
               question_of(mutant.kind);
  words.label = change + ", it is right";
  const Mutant& other = right.mutants.back();
  const bool is_pair = right.mutants.size() > 1;
  if (is_pair && mutant.before == other.before && mutant.after == other.after) {
    const std::string places =
        mutant.line == other.line
            ? fmt::format("both `{}`", mutant.before)
            : fmt::format("`{}` in lines {} and {}", mutant.before, mutant.line, other.line);
    const std::string after =
        mutant.kind == MutantKind::name ? fmt::format("`{}`", mutant.after) : quoted(mutant.after);
    words.message = fmt::format("with {} in place of {}, {}", after, places, outcome);
    words.label = "with both changed it is right";
  } else if (is_pair) {
    words.message = fmt::format("{} in line {} and {} in line {}, {}", change, mutant.line,
                                change_of(other, right.value), other.line, outcome);
    words.label = "one of the two changes";
  } else if (right.breaks_others) {
    words.message = fmt::format("{}, these cases are right, and others would be wrong", change);
    words.help =
        "this line decides it: ask what these cases have that the others do not have, and what it "
        "should do then";
    words.label = "here these cases are not told from others";
  } else if (right.leaves_one_block) {
    words.message = fmt::format(
        "with one block {}: what the blocks do together, or how they share the work, is wrong",
        outcome);
    words.help =
        "check the step of a loop over the grid (gridDim.x * blockDim.x), and blockIdx in each "
        "index";
    words.label = change + ", one block is left";
  } else if (right.vanishes) {
    words.message = fmt::format("where {} is 0, {}",
                                mutant.kind == MutantKind::scale && mutant.before != "the value"
                                    ? fmt::format("`{}`", mutant.before)
                                    : "this term",
                                outcome);
    words.help =
        "that mends nothing, but it says where to look: ask what this value should be, and whether "
        "the threads have to put together what each of them computes with it";
    words.label = "with 0 here it is right";
  } else if (!claim.empty()) {
    const char* const instead = mutant.kind == MutantKind::order ? "with `{}` first" : "with `{}`";
    words.message = fmt::format("{} makes it wrong: {} {}", claim,
                                fmt::format(fmt::runtime(instead), mutant.after), outcome);
    words.help = question_of(mutant.kind);
  } else {
    words.message = fmt::format("{}, {}", change, outcome);
  }
}

}  // namespace

std::vector<RightMutant> best_of(const SearchResult& result,
                                 const std::map<std::uint32_t, unsigned>& steps_to) {
  const auto explains = [](const RightMutant& right) {
    return !right.vanishes && !right.leaves_one_block;
  };
  std::vector<RightMutant> best;
  std::ranges::copy_if(result.right, std::back_inserter(best), explains);
  if (best.empty()) best = result.right;
  constexpr std::size_t kMostLines = 4;
  if (lines_of(best).size() > kMostLines) return {};
  const auto steps = [&](const Mutant& mutant) {
    const auto known = steps_to.find(mutant.line);
    return known == steps_to.end() ? std::numeric_limits<unsigned>::max() : known->second;
  };
  std::ranges::stable_sort(best, {}, [&](const RightMutant& right) {
    return std::tuple(!is_slip_of_the_pen(right.mutants.front()), right.launches_more,
                      std::ranges::min(right.mutants | std::views::transform(steps)));
  });
  return best;
}

OperationWords words_of(const SearchResult& result, const std::vector<RightMutant>& best,
                        std::size_t cases) {
  const RightMutant& first = best.front();
  const Mutant& mutant = first.mutants.front();
  OperationWords words;
  words.line = mutant.line;
  words.column = mutant.column;
  const std::set<std::uint32_t> lines = lines_of(best);
  // Of cases that nobody could try, a change may be no cure.
  const bool is_sure = lines.size() == 1 && first.held >= cases;
  tell_of(first, is_sure, result.was_sound ? "all results are right" : "nothing goes wrong", words);
  const std::string where =
      cases == 1 ? "the case itself, too"
      : first.held < cases
          ? fmt::format("{} of the {} cases of its group; the others take too long", first.held,
                        cases)
          : fmt::format("all {} cases of its group, too", cases);
  words.evidence.push_back(
      fmt::format("found by running the file with {} changes, one after the other; this one holds "
                  "with other inputs and in {}",
                  result.tried, where));
  for (const std::uint32_t line : lines) {
    if (line == mutant.line) continue;
    const auto other = std::ranges::find(
        best, line, [](const RightMutant& each) { return each.mutants.front().line; });
    words.evidence.push_back(fmt::format("a change in line {} does the same: {}", line,
                                         change_of(other->mutants.front(), other->value)));
  }
  return words;
}

}  // namespace rooflab::mutation
