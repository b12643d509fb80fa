#include "labs/oracle_support/wrong_results.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "labs/oracle_support/evidence.h"

namespace rooflab {
namespace {

/// Results are compared as the grader does.
constexpr double kSame = 1e-9;

/// A value as a number; NaN when it is a text.
double as_number(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(&value);
  return real == nullptr ? std::nan("") : *real;
}

bool is_same(const Value& got, const Value& right, double scale) {
  const double number = as_number(right);
  if (std::isnan(number)) return got == right;
  return std::abs(as_number(got) - number) <= kSame * std::max(std::abs(number), scale);
}

/// "; bytes should be 12, not 10", of the first result that is wrong.
Evidence evidence(const Values& got, const Values& right, double scale = 0) {
  const auto name = first_difference(got, right, scale);
  if (!name) return {};
  const auto found = got.find(*name);
  if (found == got.end()) return {"; there is no " + *name};
  return {"; " + *name + " should be " + text_of(right.at(*name)) + ", not " +
          text_of(found->second)};
}

/// How far totals are from what they should be.
class Difference {
 public:
  Difference(const Values& got, const Values& right, double tolerance) {
    for (const auto& [name, value] : right) {
      const double total = number_of(right, name);
      if (std::isnan(total)) continue;
      totals_[name] = {number_of(got, name) - total, tolerance * std::abs(total)};
    }
  }

  /// Whether it is just what these terms add, `times` over. A NaN is never that.
  bool is(double times, const std::vector<const Term*>& terms) const {
    bool any = false;
    for (const auto& [name, total] : totals_) {
      double sum = 0;
      for (const Term* term : terms) {
        const auto adds = term->adds.find(name);
        if (adds != term->adds.end()) sum += times * adds->second;
      }
      if (!(std::abs(total.difference - sum) <= total.allowed)) return false;
      any = any || std::abs(sum) > 2 * total.allowed;
    }
    return any;
  }

 private:
  struct Total {
    double difference, allowed;
  };
  std::map<std::string, Total> totals_;
};

/// Two names with a word in between, public when both are.
Sentence joined(const Sentence& one, const char* between, const Sentence& other) {
  std::string text = one.text + between + other.text;
  const bool is_public = one.text == one.in_public && other.text == other.in_public;
  return is_public ? Sentence::of_all_cases(std::move(text)) : Sentence(std::move(text));
}

/// The terms any one of which is the difference: "the projection to keys or that to values".
Sentence names_of(const Difference& difference, double times, const std::vector<Term>& terms) {
  Sentence names;
  for (const Term& term : terms) {
    if (!difference.is(times, {&term})) continue;
    if (names.text.find(term.name.text) != std::string::npos) continue;
    names = names.text.empty() ? term.name : joined(names, " or ", term.name);
  }
  return names;
}

/// The first two terms that together are missing.
Sentence missing_pair(const Difference& difference, const std::vector<Term>& terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    for (std::size_t j = i + 1; j < terms.size(); ++j) {
      if (!difference.is(-1, {&terms[i], &terms[j]})) continue;
      return joined(terms[i].name, " and ", terms[j].name);
    }
  }
  return {};
}

}  // namespace

double number_of(const Values& results, const std::string& name) {
  const auto found = results.find(name);
  return found == results.end() ? std::nan("") : as_number(found->second);
}

std::optional<std::string> first_difference(const Values& got, const Values& right, double scale) {
  for (const auto& [name, value] : right) {
    const auto found = got.find(name);
    if (found == got.end() || !is_same(found->second, value, scale)) return name;
  }
  return std::nullopt;
}

std::optional<Complaint> explained_by_slips(const Values& got, const Values& right,
                                            const std::vector<ResultSlip>& slips, double scale) {
  for (const ResultSlip& slip : slips) {
    if (slip.results.empty() || first_difference(got, slip.results, scale)) continue;
    return Complaint{slip.code, slip.cause + evidence(got, right, scale), slip.advice};
  }
  return std::nullopt;
}

std::optional<Complaint> explained_by_terms(const Values& got, const Values& right,
                                            const std::vector<Term>& terms, double tolerance) {
  constexpr Code kCode = "RL0438";
  constexpr const char* kAdvice = "list what the total is the sum of, and tick off each once";
  const Difference difference(got, right, tolerance);
  const Evidence told = evidence(got, right);
  if (const Sentence names = names_of(difference, -1, terms); !names.text.empty()) {
    return Complaint{kCode, joined(names, " is ", "missing") + told, kAdvice};
  }
  if (const Sentence names = names_of(difference, 1, terms); !names.text.empty()) {
    return Complaint{kCode, joined(names, " is ", "counted twice") + told, kAdvice};
  }
  if (const Sentence names = missing_pair(difference, terms); !names.text.empty()) {
    return Complaint{kCode, joined(names, " are ", "missing") + told, kAdvice};
  }
  return std::nullopt;
}

}  // namespace rooflab
