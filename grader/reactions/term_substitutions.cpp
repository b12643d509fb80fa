#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <variant>

#include "grader/reactions/term_laws.h"
#include "grader/reactions/term_monomials.h"

namespace rooflab {
namespace {

/// Other parameters for which the oracle is asked.
struct Substitution {
  /// @return nothing where it cannot be made
  std::function<std::optional<Values>(const Values&)> apply;
  std::string message;  ///< follows the names of the results
  std::string advice;
};

bool holds_whole(const Value& value) { return std::holds_alternative<std::int64_t>(value); }
bool holds_number(const Value& value) { return !std::holds_alternative<std::string>(value); }

Value number_like(const Value& value, std::int64_t number) {
  if (holds_whole(value)) return number;
  return static_cast<double>(number);
}

/// Substitutions in the parameters of a case, the simplest kinds first.
class Substitutions {
 public:
  explicit Substitutions(const Values& base) : base_(base) {
    for (const auto& [name, value] : base_) {
      if (holds_number(value)) numbers_.push_back(name);
    }
  }

  using Kinds = std::vector<std::vector<Substitution>>;
  Kinds of_one() const { return {left_out(), off_by_one()}; }
  Kinds of_several() const { return {exchanged(), replaced(), constants()}; }

 private:
  static Substitution with(const std::string& name, std::int64_t number, std::string message,
                           std::string advice) {
    return {[name, number](const Values& values) -> std::optional<Values> {
              Values other = values;
              other[name] = number_like(values.at(name), number);
              return other;
            },
            std::move(message), std::move(advice)};
  }

  std::vector<Substitution> left_out() const {
    std::vector<Substitution> all;
    for (const std::string& name : numbers_) {
      for (const std::int64_t neutral : {0, 1}) {
        if (base_.at(name) == number_like(base_.at(name), neutral)) continue;
        all.push_back(with(
            name, neutral,
            fmt::format("{} is left out: what is returned belongs to {} = {}", name, name, neutral),
            fmt::format("find where the result depends on {}, and use it there", name)));
      }
    }
    return all;
  }

  std::vector<Substitution> constants() const {
    std::vector<Substitution> all;
    for (const std::string& name : numbers_) {
      for (const std::int64_t number : {2, 4, 8}) {
        if (base_.at(name) == number_like(base_.at(name), number)) continue;
        all.push_back(with(name, number,
                           fmt::format("a constant {} stands where {} is due", number, name),
                           fmt::format("use {} there: cases have different ones", name)));
      }
    }
    return all;
  }

  std::vector<Substitution> exchanged() const {
    std::vector<Substitution> all;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      for (std::size_t j = i + 1; j < numbers_.size(); ++j) {
        const std::string &a = numbers_[i], &b = numbers_[j];
        if (base_.at(a).index() != base_.at(b).index()) continue;
        all.push_back({[a, b](const Values& values) -> std::optional<Values> {
                         Values other = values;
                         std::swap(other[a], other[b]);
                         return other;
                       },
                       fmt::format("{} and {} are in each other's place", a, b),
                       "compare the order of arguments with the header's"});
      }
    }
    return all;
  }

  std::vector<Substitution> replaced() const {
    std::vector<Substitution> all;
    for (const std::string& a : numbers_) {
      for (const std::string& b : numbers_) {
        if (a == b || base_.at(a).index() != base_.at(b).index()) continue;
        all.push_back({[a, b](const Values& values) -> std::optional<Values> {
                         Values other = values;
                         other[a] = values.at(b);
                         return other;
                       },
                       fmt::format("{} is used in the place of {}", b, a),
                       fmt::format("what does {} count, and what {}?", a, b)});
      }
    }
    return all;
  }

  std::vector<Substitution> off_by_one() const {
    std::vector<Substitution> all;
    for (const std::string& name : numbers_) {
      if (!holds_whole(base_.at(name))) continue;
      for (const std::int64_t more : {-1, 1}) {
        all.push_back(
            {[name, more](const Values& values) -> std::optional<Values> {
               Values other = values;
               other[name] = std::get<std::int64_t>(values.at(name)) + more;
               return other;
             },
             fmt::format("{} {} 1 is used where {} is due", name, more > 0 ? "+" : "-", name),
             "look at both ends of the range: is the last one counted, and once?"});
      }
      all.push_back(times(name, 2));
      all.push_back(half(name));
    }
    return all;
  }

  /// A factor of two may belong to the parameter or to all that it is multiplied by.
  static Substitution times(const std::string& name, std::int64_t factor) {
    return {[name, factor](const Values& values) -> std::optional<Values> {
              Values other = values;
              other[name] = factor * std::get<std::int64_t>(values.at(name));
              return other;
            },
            fmt::format("twice {} would give what is returned", name),
            fmt::format("either {} counts twice, or what it multiplies has a factor of 2 too many",
                        name)};
  }

  /// Of even numbers only: nothing is known of how others are halved.
  static Substitution half(const std::string& name) {
    return {
        [name](const Values& values) -> std::optional<Values> {
          const auto number = std::get<std::int64_t>(values.at(name));
          if (number % 2 != 0) return std::nullopt;
          Values other = values;
          other[name] = number / 2;
          return other;
        },
        fmt::format("half of {} would give what is returned", name),
        fmt::format("either half of {} is taken, or what it multiplies lacks a factor of 2", name)};
  }

  const Values& base_;
  std::vector<std::string> numbers_;
};

/// Holds substitutions against what was returned.
class Trial {
 public:
  Trial(const TermTable& table, const std::vector<std::size_t>& results, const RightResults& right)
      : table_(table), results_(results), right_(right) {}

  /// Whether the oracle's results of other parameters are what was returned in all rows, but for
  /// some in which the substitution cannot be made.
  bool explains(const Substitution& substitution) const {
    constexpr std::size_t kFewestWrong = 3, kFewestProofs = 2;
    std::size_t wrong = 0, proofs = 0;
    for (const TermRow& row : table_.rows()) {
      const auto other = substitution.apply(row.sample->parameters);
      if (!other) continue;
      if (!is_explained(row, *other)) return false;
      const bool tells = std::ranges::any_of(
          results_, [&](std::size_t result) { return table_.is_wrong(row, result); });
      wrong += tells ? 1 : 0;
      proofs += tells && row.proves ? 1 : 0;
    }
    return wrong >= kFewestWrong && proofs >= kFewestProofs;
  }

 private:
  bool is_explained(const TermRow& row, const Values& parameters) const {
    const auto values = right_(parameters);
    if (!values) return false;
    return std::ranges::all_of(results_, [&](std::size_t result) {
      const auto found = values->find(table_.results()[result]);
      if (found == values->end() || !holds_number(found->second)) return false;
      const Number number = holds_whole(found->second)
                                ? static_cast<Number>(std::get<std::int64_t>(found->second))
                                : static_cast<Number>(std::get<double>(found->second));
      return is_same(number, row.got[result]);
    });
  }

  const TermTable& table_;
  const std::vector<std::size_t>& results_;
  const RightResults& right_;
};

/// The only substitution of the first kind that has any.
std::optional<Law> law_of(const Substitutions::Kinds& kinds, const TermTable& table,
                          const std::vector<std::size_t>& results, const RightResults& right) {
  const Trial trial(table, results, right);
  for (const auto& kind : kinds) {
    const Substitution* only = nullptr;
    for (const Substitution& substitution : kind) {
      if (!trial.explains(substitution)) continue;
      if (only != nullptr) return std::nullopt;  // nobody can tell which of the two it is
      only = &substitution;
    }
    if (only == nullptr) continue;
    const std::size_t shown = *std::ranges::find_if(
        results, [&](std::size_t result) { return table.is_wrong(table.base(), result); });
    return Law{"RL0541",
               fmt::format("{}: {} is {} where {} is due", only->message, table.results()[shown],
                           text_of_number(table.base().got[shown]),
                           text_of_number(table.base().expected[shown])),
               only->advice};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Law> left_out_law(const TermTable& table, const std::vector<std::size_t>& results,
                                const RightResults& right) {
  return law_of(Substitutions(table.base().sample->parameters).of_one(), table, results, right);
}

std::optional<Law> exchanged_law(const TermTable& table, const std::vector<std::size_t>& results,
                                 const RightResults& right) {
  return law_of(Substitutions(table.base().sample->parameters).of_several(), table, results, right);
}

}  // namespace rooflab
