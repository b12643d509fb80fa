#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "grader/reactions/term_laws.h"
#include "grader/reactions/term_monomials.h"

namespace rooflab {
namespace {

/// Ways to make one number of two.
struct Way {
  const char* name;  ///< "the sum of {} and {}"
  Number (*of)(Number, Number);
};
constexpr std::array<Way, 5> kWays{{
    {"the sum of", [](Number a, Number b) { return a + b; }},
    {"the larger of", [](Number a, Number b) { return std::max(a, b); }},
    {"the smaller of", [](Number a, Number b) { return std::min(a, b); }},
    {"the product of", [](Number a, Number b) { return a * b; }},
    {"the difference of", [](Number a, Number b) { return std::abs(a - b); }},
}};

using Quantity = std::function<Number(const TermRow&)>;

bool always_same(const TermTable& table, const Quantity& one, const Quantity& other,
                 const Quantity& scale) {
  return std::ranges::all_of(
      table.rows(), [&](const TermRow& row) { return is_same(one(row), other(row), scale(row)); });
}

/// The first way that makes a quantity of two others in all rows. One that is the same as another
/// throughout, such as the larger of two of which one is always larger, is none.
const Way* way_of(const TermTable& table, const Quantity& whole, const Quantity& a,
                  const Quantity& b) {
  const auto scale = [&](const TermRow& row) {
    return std::max(std::abs(a(row)), std::abs(b(row)));
  };
  if (always_same(table, whole, a, scale) || always_same(table, whole, b, scale)) return nullptr;
  for (const Way& way : kWays) {
    const auto made = [&](const TermRow& row) { return way.of(a(row), b(row)); };
    if (always_same(table, whole, made, scale)) return &way;
  }
  return nullptr;
}

/// Two terms of which a result is the larger or the smaller.
struct Choice {
  Monomial one, other;
  const Way* way = nullptr;
};

/// The products of parameters that a result is in some rows.
class ChoiceSearch {
 public:
  ChoiceSearch(const TermTable& table, std::size_t result) : table_(table), result_(result) {}

  std::optional<Choice> run() const {
    const std::vector<Monomial> pieces = found_pieces();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      for (std::size_t j = i + 1; j < pieces.size(); ++j) {
        const Way* way = way_of(table_, expected(), at(pieces[i]), at(pieces[j]));
        const bool chooses = way == &kWays[1] || way == &kWays[2];
        if (chooses) return Choice{pieces[i], pieces[j], way};
      }
    }
    return std::nullopt;
  }

 private:
  Quantity expected() const {
    return [this](const TermRow& row) { return row.expected[result_]; };
  }
  static Quantity at(const Monomial& monomial) {
    return [monomial](const TermRow& row) { return monomial.at(row); };
  }

  /// The parameters that the right or the returned results depend on.
  std::vector<std::size_t> parameters() const {
    std::vector<std::size_t> found;
    for (const std::size_t i : table_.varying()) {
      const bool depends = std::ranges::any_of(table_.rows(), [&](const TermRow& row) {
        return row.parameters[i] != table_.base().parameters[i] &&
               row.expected[result_] != table_.base().expected[result_];
      });
      if (depends) found.push_back(i);
    }
    return found;
  }

  std::vector<Monomial> found_pieces() const {
    constexpr std::size_t kMostParameters = 6;
    const std::vector<std::size_t> names = parameters();
    if (names.size() > kMostParameters) return {};
    std::vector<Monomial> all{{1, std::vector<int>(table_.parameters().size(), 0)}};
    for (const std::size_t i : names) {
      const std::size_t before = all.size();
      for (std::size_t k = 0; k < before; ++k) {
        for (const int power : {1, -1}) {
          all.push_back(all[k]);
          all.back().powers[i] = power;
        }
      }
    }
    std::vector<Monomial> pieces;
    for (Monomial& one : all) {
      if (one.is_constant()) continue;
      if (const auto factor = factor_in_some_rows(one)) {
        one.factor = *factor;
        pieces.push_back(one);
      }
    }
    return pieces;
  }

  /// The factor that makes it the result in several rows that differ in it.
  std::optional<Number> factor_in_some_rows(const Monomial& piece) const {
    constexpr int kFewest = 2;  // the choice itself is held against all rows
    std::map<Number, std::vector<Number>> values;
    for (const TermRow& row : table_.rows()) {
      const Number value = piece.at(row);
      const auto factor = small_fraction(row.expected[result_] / value);
      if (!factor) continue;
      std::vector<Number>& seen = values[*factor];
      if (std::ranges::find(seen, value) == seen.end()) seen.push_back(value);
      if (static_cast<int>(seen.size()) == kFewest) return factor;
    }
    return std::nullopt;
  }

  const TermTable& table_;
  std::size_t result_;
};

}  // namespace

std::optional<Law> composition_law(const TermTable& table, std::size_t result) {
  const std::string& name = table.results()[result];
  const auto got = [&](std::size_t of) {
    return Quantity([of](const TermRow& row) { return row.got[of]; });
  };
  const auto expected = [&](std::size_t of) {
    return Quantity([of](const TermRow& row) { return row.expected[of]; });
  };
  const auto no_scale = [](const TermRow&) -> Number { return 0; };
  for (std::size_t other = 0; other < table.results().size(); ++other) {
    if (other == result || !always_same(table, got(result), expected(other), no_scale)) continue;
    const bool is_exchanged = always_same(table, got(other), expected(result), no_scale);
    return Law{"RL0544",
               is_exchanged ? fmt::format("{} and {} are in each other's place: {} is {}", name,
                                          table.results()[other], name, in_this_case(table, result))
                            : fmt::format("{} is what {} should be: {}", name,
                                          table.results()[other], in_this_case(table, result)),
               "look at the order in which the results are put together"};
  }
  for (std::size_t a = 0; a < table.results().size(); ++a) {
    for (std::size_t b = a + 1; b < table.results().size(); ++b) {
      if (a == result || b == result) continue;
      const Way* is = way_of(table, got(result), got(a), got(b));
      const Way* due = way_of(table, expected(result), expected(a), expected(b));
      if (is == nullptr || due == nullptr || is == due) continue;
      return Law{"RL0544",
                 fmt::format("{} is {} {} and {}, where {} both is due: {}", name, is->name,
                             table.results()[a], table.results()[b], due->name,
                             in_this_case(table, result)),
                 "do the two come one after the other, or at the same time?"};
    }
  }
  return std::nullopt;
}

std::optional<Law> choice_law(const TermTable& table, std::size_t result) {
  const auto choice = ChoiceSearch(table, result).run();
  if (!choice) return std::nullopt;
  const auto got = [&](const TermRow& row) { return row.got[result]; };
  const auto one = [&](const TermRow& row) { return choice->one.at(row); };
  const auto other = [&](const TermRow& row) { return choice->other.at(row); };
  const auto scale = [&](const TermRow& row) {
    return std::max(std::abs(one(row)), std::abs(other(row)));
  };
  const std::string& name = table.results()[result];
  const std::string first = text_of(choice->one, table), second = text_of(choice->other, table);
  const std::string due = fmt::format("{} {} and {} is due: {}", choice->way->name, first, second,
                                      in_this_case(table, result));
  const auto law = [&](const std::string& is) {
    return Law{"RL0544", fmt::format("{} is {}, where {}", name, is, due),
               "what limits: both together, the slower, or the faster of the two?"};
  };
  if (always_same(table, got, one, scale)) return law("always " + first);
  if (always_same(table, got, other, scale)) return law("always " + second);
  const Way* is = way_of(table, got, one, other);
  if (is == nullptr || is == choice->way) return std::nullopt;
  return law(fmt::format("{} the two", is->name));
}

std::optional<Law> dependence_law(const TermTable& table, std::size_t result) {
  constexpr std::size_t kFewest = 3;
  for (const std::size_t i : table.varying()) {
    const auto others = table.with_other(i);
    const bool is_enough =
        others.size() >= kFewest && std::ranges::any_of(others, &TermRow::proves);
    if (!is_enough) continue;
    const auto changes = [&](const TermRow* row, std::vector<Number> TermRow::*values) {
      return !is_same((row->*values)[result], (table.base().*values)[result]);
    };
    const auto all = [&](std::vector<Number> TermRow::*values, bool change) {
      return std::ranges::all_of(
          others, [&](const TermRow* row) { return changes(row, values) == change; });
    };
    const std::string &name = table.results()[result], &parameter = table.parameters()[i];
    if (all(&TermRow::got, false) && all(&TermRow::expected, true)) {
      return Law{
          "RL0407",
          fmt::format("{} stays the same in calls in which the right one changes with {}: {}", name,
                      parameter, in_this_case(table, result)),
          fmt::format("which part of the result grows with {}?", parameter)};
    }
    if (all(&TermRow::got, true) && all(&TermRow::expected, false)) {
      return Law{
          "RL0544",
          fmt::format("{} changes with {} in calls in which the right one stays the same: {}", name,
                      parameter, in_this_case(table, result)),
          fmt::format("find where {} goes into it, and ask what stands there for what", parameter)};
    }
  }
  return std::nullopt;
}

}  // namespace rooflab
