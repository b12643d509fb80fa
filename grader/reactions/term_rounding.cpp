#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grader/reactions/term_laws.h"
#include "grader/reactions/term_monomials.h"

namespace rooflab {
namespace {

/// Whether a quotient of two parameters is exact in a row.
bool divides(const TermRow& row, std::size_t by, std::size_t number) {
  return std::fmod(row.parameters[number], row.parameters[by]) == 0;
}

/// What a quotient that is cut makes of a result: right where it is exact, and off one way
/// elsewhere.
struct Cut {
  std::size_t number = 0, by = 0;
  bool is_too_small = false;
};

class CutSearch {
 public:
  CutSearch(const TermTable& table, std::size_t result) : table_(table), result_(result) {}

  /// The only quotient that fits; nothing where none or several do.
  std::optional<Cut> run() const {
    std::optional<Cut> only;
    for (const std::size_t number : table_.varying()) {
      for (const std::size_t by : table_.varying()) {
        if (number == by || !are_whole(number, by)) continue;
        const auto cut = fitted(number, by);
        if (!cut) continue;
        if (only) return std::nullopt;
        only = cut;
      }
    }
    return only;
  }

 private:
  bool are_whole(std::size_t number, std::size_t by) const {
    return std::ranges::all_of(table_.rows(), [&](const TermRow& row) {
      return is_whole_number(row.parameters[number]) && is_whole_number(row.parameters[by]);
    });
  }

  std::optional<Cut> fitted(std::size_t number, std::size_t by) const {
    constexpr int kFewest = 4, kFewestProofs = 2;
    int exact = 0, smaller = 0, larger = 0, exact_proofs = 0, proofs = 0;
    for (const TermRow& row : table_.rows()) {
      const bool is_wrong = table_.is_wrong(row, result_);
      const bool is_exact = divides(row, by, number);
      if (is_exact && is_wrong) return std::nullopt;
      if (!is_exact && !is_wrong) return std::nullopt;
      // By 1 any quotient is exact: the result may be right since the divisor is 1.
      if (row.parameters[by] == 1) continue;
      (row.proves ? (is_exact ? exact_proofs : proofs) : exact) += row.proves || is_exact ? 1 : 0;
      if (is_wrong) (row.got[result_] < row.expected[result_] ? smaller : larger) += 1;
    }
    const bool is_enough = exact >= kFewest && smaller + larger >= kFewest &&
                           exact_proofs >= kFewestProofs && proofs >= kFewestProofs;
    if (!is_enough || (smaller > 0 && larger > 0)) return std::nullopt;
    return Cut{number, by, smaller > 0};
  }

  const TermTable& table_;
  std::size_t result_;
};

/// A result that is the right one or the whole number beside it.
struct Beside {
  bool is_below = false;
  bool is_often_right = false;  ///< as what is rounded to the nearest is
};

std::optional<Beside> always_beside(const TermTable& table, std::size_t result) {
  constexpr int kFewestRight = 1;
  int right = 0, below = 0, above = 0;
  for (const TermRow& row : table.rows()) {
    const Number difference = row.got[result] - row.expected[result];
    if (difference == 0) {
      ++right;
    } else if (difference == -1) {
      ++below;
    } else if (difference == 1) {
      ++above;
    } else {
      return std::nullopt;
    }
  }
  if (right < kFewestRight || (below > 0 && above > 0)) return std::nullopt;
  constexpr int kShare = 4;
  const bool is_often_right = kShare * right > static_cast<int>(table.rows().size());
  return Beside{below > 0, is_often_right};
}

/// Whether results are what 32 bits leave of the right ones.
bool wraps(const TermTable& table, std::size_t result) {
  constexpr Number kTwoTo32 = 4294967296.0L, kTwoTo31 = 2147483648.0L;
  constexpr int kFewest = 3;
  int small = 0, wrong = 0;
  for (const TermRow& row : table.rows()) {
    const Number expected = row.expected[result];
    const Number difference = row.got[result] - expected;
    if (!is_whole_number(expected) || !is_whole_number(difference)) return false;
    if (std::fmod(difference, kTwoTo32) != 0) return false;
    const bool fits = std::abs(expected) < kTwoTo31;
    if (fits && difference != 0) return false;
    small += fits ? 1 : 0;
    wrong += difference != 0 ? 1 : 0;
  }
  return small >= kFewest && wrong >= kFewest;
}

/// Whether results are the right ones in the 24 bits of a float.
bool is_float(const TermTable& table, std::size_t result) {
  constexpr Number kFloat = 1e-6L;
  constexpr int kFewest = 3;
  int wrong = 0;
  for (const TermRow& row : table.rows()) {
    const Number got = row.got[result], expected = row.expected[result];
    if (static_cast<Number>(static_cast<float>(got)) != got) return false;
    if (std::abs(got - expected) > kFloat * std::abs(expected)) return false;
    wrong += table.is_wrong(row, result) ? 1 : 0;
  }
  return wrong >= kFewest;
}

}  // namespace

std::optional<Law> narrow_type_law(const TermTable& table, std::size_t result) {
  const std::string& name = table.results()[result];
  if (wraps(table, result)) {
    return Law{"RL0542",
               fmt::format("{} overflows: it is right below 2^31, and off by a multiple of 2^32 "
                           "above; here {}",
                           name, in_this_case(table, result)),
               "an int holds 32 bits: convert one operand to std::int64_t before you multiply"};
  }
  if (is_float(table, result)) {
    return Law{"RL0542",
               fmt::format("{} has the 24 bits of a float: {}", name, in_this_case(table, result)),
               "compute in double, or in std::int64_t; one float among the operands is enough"};
  }
  return std::nullopt;
}

std::optional<Law> rounding_law(const TermTable& table, std::size_t result) {
  const std::string& name = table.results()[result];
  if (const auto cut = CutSearch(table, result).run()) {
    const std::string &number = table.parameters()[cut->number], &by = table.parameters()[cut->by];
    return Law{
        "RL0543",
        fmt::format("{} is right only where {} is a multiple of {}, and too {} elsewhere: "
                    "{} / {} is rounded the wrong way, or too early; here {}",
                    name, number, by, cut->is_too_small ? "small" : "large", number, by,
                    in_this_case(table, result)),
        "whole numbers divide downwards: to round up, add the divisor - 1 first; to keep the "
        "rest, multiply before you divide"};
  }
  if (const auto beside = always_beside(table, result)) {
    const char* there = beside->is_often_right ? "to the nearest"
                        : beside->is_below     ? "down"
                                               : "up";
    return Law{"RL0543",
               fmt::format("{} is right for some parameters and 1 too {} for all others: it is "
                           "rounded {} where {} is due; here {}",
                           name, beside->is_below ? "small" : "large", there,
                           beside->is_below ? "up" : "down", in_this_case(table, result)),
               "what is the smallest, or the largest, number that fulfils the condition?"};
  }
  return std::nullopt;
}

}  // namespace rooflab
