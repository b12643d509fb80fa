#include "grader/reactions/term_table.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <variant>

namespace rooflab {
namespace {

std::optional<Number> number(const Values& values, const std::string& name) {
  const auto found = values.find(name);
  if (found == values.end()) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&found->second)) return *whole;
  const auto* real = std::get_if<double>(&found->second);
  if (real == nullptr || !std::isfinite(*real)) return std::nullopt;
  return *real;
}

bool is_in_all(const std::vector<TermSample>& samples, Values TermSample::*values,
               const std::string& name) {
  return std::ranges::all_of(
      samples, [&](const TermSample& sample) { return number(sample.*values, name).has_value(); });
}

std::vector<Number> numbers(const Values& values, const std::vector<std::string>& names) {
  std::vector<Number> all;
  all.reserve(names.size());
  for (const std::string& name : names) all.push_back(*number(values, name));
  return all;
}

}  // namespace

bool is_whole_number(Number value) { return value == std::rint(value); }

bool is_same(Number a, Number b, Number scale) {
  constexpr Number kRounding = 1e-11L;
  constexpr Number kExact = 9007199254740992.0L;  // 2^53: a double tells whole numbers apart below
  if (a == b) return true;
  const Number size = std::max(std::abs(a), std::abs(b));
  if (is_whole_number(a) && is_whole_number(b) && size < kExact && scale < kExact) return false;
  return std::abs(a - b) <= kRounding * std::max(size, scale);
}

TermTable::TermTable(const std::vector<TermSample>& samples) {
  if (samples.empty()) return;
  for (const auto& [name, value] : samples.front().parameters) {
    if (is_in_all(samples, &TermSample::parameters, name)) parameters_.push_back(name);
  }
  for (const auto& [name, value] : samples.front().expected) {
    const bool is_number = is_in_all(samples, &TermSample::expected, name) &&
                           is_in_all(samples, &TermSample::got, name);
    if (is_number) results_.push_back(name);
  }
  for (const TermSample& sample : samples) {
    rows_.push_back({numbers(sample.parameters, parameters_), numbers(sample.got, results_),
                     numbers(sample.expected, results_), sample.proves, &sample});
  }
}

bool TermTable::is_repeatable() const {
  return std::ranges::all_of(rows_, [&](const TermRow& row) {
    return row.sample->parameters != base().sample->parameters || row.got == base().got;
  });
}

bool TermTable::is_wrong(const TermRow& row, std::size_t result) const {
  constexpr Number kAllowed = 1e-9L;    // as the grader compares results
  constexpr Number kRounding = 1e-13L;  // of what a difference of larger results leaves
  const Number got = row.got[result], expected = row.expected[result];
  if (got == expected) return false;
  if (is_whole_number(got) && is_whole_number(expected)) return true;
  Number largest = 0;
  for (const Number other : row.expected) largest = std::max(largest, std::abs(other));
  return std::abs(got - expected) > std::max(kAllowed * std::abs(expected), kRounding * largest);
}

std::vector<std::size_t> TermTable::wrong_results() const {
  constexpr std::size_t kFewestFound = 3, kFewestProofs = 2;
  std::vector<std::size_t> wrong;
  for (std::size_t result = 0; result < results_.size(); ++result) {
    std::set<std::pair<Number, Number>> found, proofs;
    for (const TermRow& row : rows_) {
      if (!is_wrong(row, result)) continue;
      (row.proves ? proofs : found).insert({row.got[result], row.expected[result]});
    }
    const bool is_enough = found.size() >= kFewestFound && proofs.size() >= kFewestProofs;
    if (is_enough && is_wrong(base(), result)) wrong.push_back(result);
  }
  return wrong;
}

std::vector<std::size_t> TermTable::varying() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto value = [i](const TermRow& row) { return row.parameters[i]; };
    const bool is_zero =
        std::ranges::any_of(rows_, [&](const TermRow& row) { return value(row) == 0; });
    const bool varies =
        std::ranges::any_of(rows_, [&](const TermRow& row) { return value(row) != value(base()); });
    if (varies && !is_zero) found.push_back(i);
  }
  return found;
}

std::vector<const TermRow*> TermTable::with_other(std::size_t parameter) const {
  std::vector<const TermRow*> found;
  for (const TermRow& row : rows_) {
    bool differs_there = false, differs_elsewhere = false;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const bool differs = row.parameters[i] != base().parameters[i];
      (i == parameter ? differs_there : differs_elsewhere) |= differs;
    }
    if (differs_there && !differs_elsewhere) found.push_back(&row);
  }
  return found;
}

}  // namespace rooflab
