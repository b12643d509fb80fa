#include "labs/oracle_support/wrong_results.h"

#include <cmath>
#include <variant>

#include "labs/oracle_support/evidence.h"

namespace rooflab {
namespace {

/// Results are compared as the grader does.
constexpr double kSame = 1e-9;

bool is_same(const Value& got, const Value& other) {
  const Values values{{"got", got}, {"other", other}};
  const double number = number_of(values, "other");
  return std::isnan(number) ? got == other : is_close(number_of(values, "got"), number, kSame);
}

/// "; bytes should be 12 and is 10", of the first result that is wrong.
std::string evidence(const Values& got, const Values& right) {
  for (const auto& [name, value] : right) {
    const auto found = got.find(name);
    if (found == got.end()) return "; there is no " + name;
    if (is_same(found->second, value)) continue;
    return "; " + name + " should be " + text_of(value) + " and is " + text_of(found->second);
  }
  return {};
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

/// The terms any one of which is the difference: "the projection to keys or that to values".
std::string names_of(const Difference& difference, double times, const std::vector<Term>& terms) {
  std::string names;
  for (const Term& term : terms) {
    if (!difference.is(times, {&term})) continue;
    if (names.find(term.name) != std::string::npos) continue;
    names += (names.empty() ? "" : " or ") + term.name;
  }
  return names;
}

/// The first two terms that together are missing.
std::string missing_pair(const Difference& difference, const std::vector<Term>& terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    for (std::size_t j = i + 1; j < terms.size(); ++j) {
      if (difference.is(-1, {&terms[i], &terms[j]})) return terms[i].name + " and " + terms[j].name;
    }
  }
  return {};
}

}  // namespace

double number_of(const Values& results, const std::string& name) {
  const auto found = results.find(name);
  if (found == results.end()) return std::nan("");
  if (const auto* whole = std::get_if<std::int64_t>(&found->second)) {
    return static_cast<double>(*whole);
  }
  const auto* real = std::get_if<double>(&found->second);
  return real == nullptr ? std::nan("") : *real;
}

std::optional<Complaint> explained_by_slips(const Values& got, const Values& right,
                                            const std::vector<ResultSlip>& slips) {
  for (const ResultSlip& slip : slips) {
    bool makes_all = !slip.results.empty();
    for (const auto& [name, value] : slip.results) {
      const auto found = got.find(name);
      makes_all = makes_all && found != got.end() && is_same(found->second, value);
    }
    if (makes_all) return Complaint{slip.code, slip.cause + evidence(got, right), slip.advice};
  }
  return std::nullopt;
}

std::optional<Complaint> explained_by_terms(const Values& got, const Values& right,
                                            const std::vector<Term>& terms, double tolerance) {
  constexpr const char* kCode = "RL0438";
  constexpr const char* kAdvice = "list what the total is the sum of, and tick off each once";
  const Difference difference(got, right, tolerance);
  if (const std::string names = names_of(difference, -1, terms); !names.empty()) {
    return Complaint{kCode, names + " is missing" + evidence(got, right), kAdvice};
  }
  if (const std::string names = names_of(difference, 1, terms); !names.empty()) {
    return Complaint{kCode, names + " is counted twice" + evidence(got, right), kAdvice};
  }
  if (const std::string names = missing_pair(difference, terms); !names.empty()) {
    return Complaint{kCode, names + " are missing" + evidence(got, right), kAdvice};
  }
  return std::nullopt;
}

}  // namespace rooflab
