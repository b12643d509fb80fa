#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grader/reactions/term_laws.h"
#include "grader/reactions/term_monomials.h"

namespace rooflab {
namespace {

constexpr const char* kTickOff = "list what the total is the sum of, and tick off each once";

/// How far a result is from what it should be.
class Difference {
 public:
  Difference(const TermTable& table, std::size_t result) : table_(table), result_(result) {}

  Number operator()(const TermRow& row) const { return row.got[result_] - row.expected[result_]; }
  Number scale(const TermRow& row) const {
    return std::max(std::abs(row.got[result_]), std::abs(row.expected[result_]));
  }
  bool is_whole() const {
    return std::ranges::all_of(table_.rows(), [this](const TermRow& row) {
      return (*this)(row) == std::rint((*this)(row));
    });
  }

  /// What all of its terms have in common: parameters with which it grows by a whole power.
  Monomial common() const {
    Monomial common{1, std::vector<int>(table_.parameters().size(), 0)};
    for (const std::size_t i : table_.varying()) {
      if (const auto power = power_in(table_, i, *this)) common.powers[i] = *power;
    }
    return common;
  }

  /// The parameters of which only some of its terms are made.
  std::vector<std::size_t> others() const {
    std::vector<std::size_t> found;
    for (const std::size_t i : table_.varying()) {
      if (!power_in(table_, i, *this)) found.push_back(i);
    }
    return found;
  }

 private:
  const TermTable& table_;
  std::size_t result_;
};

/// All products of some parameters with small powers, the simplest first.
std::vector<Monomial> products_of(const TermTable& table,
                                  const std::vector<std::size_t>& parameters, int lowest) {
  constexpr int kHighest = 2, kMostComplex = 7;
  std::vector<Monomial> products{{1, std::vector<int>(table.parameters().size(), 0)}};
  for (const std::size_t i : parameters) {
    const std::size_t before = products.size();
    for (std::size_t k = 0; k < before; ++k) {
      for (int power = lowest; power <= kHighest; ++power) {
        if (power == 0) continue;
        Monomial more = products[k];
        more.powers[i] = power;
        if (more.complexity() <= kMostComplex) products.push_back(std::move(more));
      }
    }
  }
  std::ranges::stable_sort(products, {}, &Monomial::complexity);
  return products;
}

using Terms = std::vector<Monomial>;

int complexity_of(const Terms& terms) {
  int sum = 0;
  for (const Monomial& term : terms) sum += term.complexity();
  return sum;
}

/// Finds the few products whose sum a difference is in all rows.
class SumSearch {
 public:
  SumSearch(const TermTable& table, const Difference& difference, std::vector<Monomial> products)
      : products_(std::move(products)), common_(difference.common()) {
    for (const TermRow& row : rows_in_order(table)) {
      differences_.push_back(difference(row));
      scales_.push_back(difference.scale(row));
      common_values_.push_back(common_.at(row));
    }
    for (const Monomial& product : products_) {
      std::vector<Number> values;
      values.reserve(differences_.size());
      std::size_t i = 0;
      for (const TermRow& row : rows_in_order(table)) {
        values.push_back(product.at(row) * common_values_[i++]);
      }
      values_.push_back(std::move(values));
    }
  }

  /// The simplest sum of two or, where there are not too many products, three.
  std::optional<Terms> run() const {
    constexpr std::size_t kMostForThree = 30;
    if (auto two = simplest({}, 2)) return two;
    return products_.size() <= kMostForThree ? simplest({}, 3) : std::nullopt;
  }

 private:
  /// The case, then those that differ most: they tell sums apart soonest.
  static std::vector<TermRow> rows_in_order(const TermTable& table) {
    std::vector<TermRow> rows = table.rows();
    std::stable_sort(rows.begin() + 1, rows.end(), [&](const TermRow& a, const TermRow& b) {
      const auto same = [&](const TermRow& row) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < row.parameters.size(); ++i) {
          count += row.parameters[i] == table.base().parameters[i] ? 1 : 0;
        }
        return count;
      };
      return std::pair(a.proves, same(a)) < std::pair(b.proves, same(b));
    });
    return rows;
  }

  std::optional<Terms> simplest(std::vector<std::size_t> chosen, std::size_t count) const {
    if (chosen.size() == count) return fitted(chosen);
    std::optional<Terms> best;
    for (std::size_t i = chosen.empty() ? 0 : chosen.back() + 1; i < products_.size(); ++i) {
      chosen.push_back(i);
      const auto terms = simplest(chosen, count);
      chosen.pop_back();
      if (terms && (!best || complexity_of(*terms) < complexity_of(*best))) best = terms;
    }
    return best;
  }

  /// By Cramer's rule from the first rows; the others have to agree.
  std::optional<Terms> fitted(const std::vector<std::size_t>& chosen) const {
    const std::size_t size = chosen.size();
    const auto determinant = [&](std::size_t replaced) {
      const auto at = [&](std::size_t row, std::size_t column) {
        return column == replaced ? differences_[row] : values_[chosen[column]][row];
      };
      if (size == 2) return at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0);
      Number sum = 0;
      for (std::size_t k = 0; k < size; ++k) {
        const std::size_t one = (k + 1) % size, other = (k + 2) % size;
        sum += at(0, k) * (at(1, one) * at(2, other) - at(1, other) * at(2, one));
      }
      return sum;
    };
    const Number whole = determinant(size);
    if (whole == 0) return std::nullopt;
    std::vector<Number> factors;
    for (std::size_t k = 0; k < size; ++k) {
      const auto factor = small_fraction(determinant(k) / whole);
      if (!factor) return std::nullopt;
      factors.push_back(*factor);
    }
    for (std::size_t row = 0; row < differences_.size(); ++row) {
      Number sum = 0;
      for (std::size_t k = 0; k < size; ++k) sum += factors[k] * values_[chosen[k]][row];
      if (!is_same(sum, differences_[row], scales_[row])) return std::nullopt;
    }
    Terms terms;
    for (std::size_t k = 0; k < size; ++k) {
      Monomial term = products_[chosen[k]];
      term.factor = factors[k];
      for (std::size_t i = 0; i < term.powers.size(); ++i) term.powers[i] += common_.powers[i];
      terms.push_back(std::move(term));
    }
    return terms;
  }

  std::vector<Monomial> products_;
  Monomial common_;
  std::vector<std::vector<Number>> values_;
  std::vector<Number> differences_, scales_, common_values_;
};

/// "a * b and c".
std::string text_of(const Terms& terms, const TermTable& table) {
  std::string text;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == terms.size() ? " and " : ", ") + text_of(terms[i], table);
  }
  return text;
}

/// What one parameter does in a term where another, or none, is due; empty where it is more.
std::string by_one_factor(const Monomial& there, const Monomial& due, const TermTable& table) {
  if (there.factor != -due.factor) return {};
  std::string more, less;
  for (std::size_t i = 0; i < due.powers.size(); ++i) {
    const int difference = there.powers[i] - due.powers[i];
    if (difference == 0) continue;
    std::string& name = difference > 0 ? more : less;
    if (!name.empty() || std::abs(difference) != 1) return {};
    name = table.parameters()[i];
  }
  const std::string term = text_of(due, table);
  if (!more.empty() && !less.empty()) {
    return fmt::format("has {} where {} is due, in the term {}", more, less, term);
  }
  if (!less.empty()) return fmt::format("lacks the factor {} in the term {}", less, term);
  return fmt::format("multiplies the term {} by {}, too", term, more);
}

Law law_of(const TermTable& table, std::size_t result, const Terms& terms) {
  const std::string& name = table.results()[result];
  Terms there, due;
  for (const Monomial& term : terms) (term.factor > 0 ? there : due).push_back(term);
  const std::string here = in_this_case(table, result);
  if (due.empty()) {
    return {"RL0438", fmt::format("{} counts {} too much: {}", name, text_of(there, table), here),
            kTickOff};
  }
  if (there.empty()) {
    return {"RL0438", fmt::format("{} lacks the terms {}: {}", name, text_of(due, table), here),
            kTickOff};
  }
  std::string what;
  if (there.size() == 1 && due.size() == 1) what = by_one_factor(there[0], due[0], table);
  if (what.empty()) {
    what = fmt::format("counts {} where {} {} due", text_of(there, table), text_of(due, table),
                       due.size() == 1 ? "is" : "are");
  }
  return {"RL0540", fmt::format("{} {}: {}", name, what, here),
          "name the extents of each array, and see which of them this term is made of"};
}

}  // namespace

std::optional<Law> summand_law(const TermTable& table, std::size_t result) {
  const Difference difference(table, result);
  const auto term =
      as_monomial(table, difference, [&](const TermRow& row) { return difference.scale(row); });
  if (!term || !small_fraction(term->factor)) return std::nullopt;
  const std::string& name = table.results()[result];
  const std::string text = text_of(*term, table);
  const Number here = difference(table.base());
  const std::string amount = text_of_number(std::abs(here));
  if (term->is_constant()) {
    return Law{
        "RL0438",
        fmt::format("{} is {} too {}, whatever the parameters are: {} where {} is due", name,
                    amount, here > 0 ? "large" : "small", text_of_number(table.base().got[result]),
                    text_of_number(table.base().expected[result])),
        "is an end left out or counted twice, or is a quotient rounded the other way?"};
  }
  const std::string at = values_of(*term, table, table.base());
  if (here < 0) {
    return Law{
        "RL0438",
        fmt::format("{} lacks the term {}: at {} it is {} too small", name, text, at, amount),
        kTickOff};
  }
  return Law{
      "RL0438",
      fmt::format("{} counts {} once too often: at {} it is {} too large", name, text, at, amount),
      "list what the total is the sum of: this term has no part in it, or is there twice"};
}

std::optional<Law> replaced_summand_law(const TermTable& table, std::size_t result) {
  constexpr std::size_t kMostParameters = 5, kMostWithQuotients = 4;
  const Difference difference(table, result);
  const auto parameters = difference.others();
  if (parameters.empty() || parameters.size() > kMostParameters) return std::nullopt;
  const bool may_divide = parameters.size() <= kMostWithQuotients && !difference.is_whole();
  const auto terms =
      SumSearch(table, difference, products_of(table, parameters, may_divide ? -1 : 0)).run();
  if (!terms) return std::nullopt;
  return law_of(table, result, *terms);
}

}  // namespace rooflab
