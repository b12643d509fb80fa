#include "grader/mutation/mutant_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace rooflab::mutation {
namespace {

/// What is wrong with the operation, and what instead.
struct Phrase {
  std::string wrong;    ///< "the comparison `<`"
  std::string instead;  ///< "with `<=`"
};

std::string with_side(const Mutant& mutant) {
  const std::string& after = mutant.after;
  if (after == "the left side alone")
    return fmt::format("without what is right of `{}`", mutant.before);
  if (after == "the right side alone")
    return fmt::format("without what is left of `{}`", mutant.before);
  if (after == "the sides exchanged") return "with its two sides exchanged";
  if (after == "one more") return "with 1 more";
  if (after == "one less") return "with 1 less";
  if (after.size() > 2) return fmt::format("with {}", after);
  return fmt::format("with `{}`", after);
}

Phrase phrase_of(const Mutant& mutant, double value) {
  const std::string& before = mutant.before;
  switch (mutant.kind) {
    case MutantKind::comparison:
      return {fmt::format("the comparison `{}`", before), fmt::format("with `{}`", mutant.after)};
    case MutantKind::number:
      return {fmt::format("the number `{}`", before), mutant.is_any_value
                                                          ? fmt::format("with about {:.6g}", value)
                                                          : fmt::format("with `{}`", mutant.after)};
    case MutantKind::name:
      return {fmt::format("`{}`", before), fmt::format("with `{}` in its place", mutant.after)};
    case MutantKind::exchange:
      return {fmt::format("the order of the names in `{}`", before),
              fmt::format("with `{}`", mutant.after)};
    case MutantKind::arithmetic:
      return {fmt::format("the operation `{}`", before), with_side(mutant)};
    case MutantKind::update:
      return {fmt::format("the assignment `{}`", before), fmt::format("with `{}`", mutant.after)};
    case MutantKind::scale:
      return {fmt::format("{} lacks a factor, which",
                          before == "the value" ? before : fmt::format("`{}`", before)),
              fmt::format("with `{}` behind it", mutant.after)};
    case MutantKind::function:
      return {fmt::format("the function `{}`", before), fmt::format("with {}", mutant.after)};
    case MutantKind::condition:
      return {fmt::format("the condition `{}`", before),
              fmt::format("with {} in its place", mutant.after)};
    case MutantKind::conjunct:
      return {fmt::format("`{}` in the condition", before), "without it"};
    case MutantKind::order:
      return {"the order of two statements", fmt::format("with `{}` first", mutant.after)};
    case MutantKind::left_out:
      return {fmt::format("the statement `{}`", before), "without it"};
  }
  return {};
}

std::string question_of(MutantKind kind) {
  switch (kind) {
    case MutantKind::comparison:
      return "ask what should happen where both sides are equal, and for the first and last index";
    case MutantKind::number:
      return "ask where this number comes from, and what it counts";
    case MutantKind::name:
    case MutantKind::exchange:
      return "say in words what each name of this line counts, and which of them is meant";
    case MutantKind::arithmetic:
    case MutantKind::update:
    case MutantKind::scale:
    case MutantKind::function:
      return "work out this line by hand for the smallest problem, and compare with the formula";
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

}  // namespace

std::vector<RightMutant> best_of(const SearchResult& result) {
  if (result.right.empty()) return {};
  constexpr std::size_t kMostLines = 4;
  if (lines_of(result.right).size() > kMostLines) return {};
  return result.right;
}

OperationWords words_of(const SearchResult& result, const std::vector<RightMutant>& best,
                        std::size_t cases) {
  const RightMutant& first = best.front();
  const Mutant& mutant = first.mutants.front();
  const Phrase phrase = phrase_of(mutant, first.value);
  const char* const right = result.was_sound ? "all results are right" : "nothing goes wrong";
  OperationWords words;
  words.line = mutant.line;
  words.column = mutant.column;
  words.help = question_of(mutant.kind);
  if (first.mutants.size() == 1) {
    words.message = fmt::format("{} makes it wrong: {} {}", phrase.wrong, phrase.instead, right);
    words.label = phrase.instead + " it is right";
  } else {
    const Mutant& other = first.mutants.back();
    const Phrase second = phrase_of(other, first.value);
    words.message = fmt::format(
        "two operations make it wrong: {} in line {} and {} in line {}; {}, and {}, {}",
        phrase.wrong, mutant.line, second.wrong, other.line, phrase.instead, second.instead, right);
    words.label = "one of the two";
  }
  words.evidence.push_back(fmt::format(
      "found by running the file with {} changes, one after the other; this one holds "
      "with other inputs and in {}",
      result.tried,
      cases == 1 ? "the case itself, too" : fmt::format("all {} cases of its group, too", cases)));
  for (const std::uint32_t line : lines_of(best)) {
    if (line == mutant.line) continue;
    const auto other = std::ranges::find(
        best, line, [](const RightMutant& each) { return each.mutants.front().line; });
    const Phrase same = phrase_of(other->mutants.front(), other->value);
    words.evidence.push_back(fmt::format("a change in line {} does the same: {} instead of {}",
                                         line, same.instead, same.wrong));
  }
  return words;
}

}  // namespace rooflab::mutation
