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

  /// The parameters that it depends on: the first one of those that change together.
  std::vector<std::size_t> parameters() const {
    std::vector<std::size_t> found;
    for (const std::size_t i : table_.varying()) {
      const auto others = table_.with_other(i);
      const bool depends = std::ranges::any_of(others, [&](const TermRow* row) {
        return !is_same((*this)(*row), (*this)(table_.base()), scale(*row));
      });
      if (depends || others.empty()) found.push_back(i);
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

struct Pair {
  Monomial one, other;
  int complexity() const { return one.complexity() + other.complexity(); }
};

/// Finds the two products whose sum a difference is in all rows.
class PairSearch {
 public:
  PairSearch(const TermTable& table, const Difference& difference, std::vector<Monomial> products)
      : table_(table), products_(std::move(products)) {
    for (const TermRow& row : table.rows()) {
      differences_.push_back(difference(row));
      scales_.push_back(difference.scale(row));
    }
    for (const Monomial& product : products_) {
      std::vector<Number> values;
      values.reserve(table.rows().size());
      for (const TermRow& row : table.rows()) values.push_back(product.at(row));
      values_.push_back(std::move(values));
    }
    second_ = another_row();
  }

  /// The simplest one; nothing where none fits.
  std::optional<Pair> run() const {
    std::optional<Pair> best;
    for (std::size_t i = 0; i < products_.size(); ++i) {
      for (std::size_t j = i + 1; j < products_.size(); ++j) {
        const auto pair = fitted(i, j);
        if (pair && (!best || pair->complexity() < best->complexity())) best = pair;
      }
    }
    return best;
  }

 private:
  /// A row with other values of everything, as far as there is one.
  std::size_t another_row() const {
    std::size_t best = 0, most = 0;
    for (std::size_t row = 0; row < table_.rows().size(); ++row) {
      std::size_t count = 0;
      for (std::size_t i = 0; i < table_.parameters().size(); ++i) {
        count += table_.rows()[row].parameters[i] != table_.base().parameters[i] ? 1 : 0;
      }
      if (count > most && !table_.rows()[row].proves) {
        most = count;
        best = row;
      }
    }
    return best;
  }

  std::optional<Pair> fitted(std::size_t i, std::size_t j) const {
    const Number a = values_[i][0], b = values_[j][0];
    const Number c = values_[i][second_], d = values_[j][second_];
    const Number determinant = a * d - b * c;
    if (std::abs(determinant) <= 1e-12L * std::abs(a * d)) return std::nullopt;
    const auto one =
        small_fraction((differences_[0] * d - b * differences_[second_]) / determinant);
    if (!one) return std::nullopt;
    const auto other =
        small_fraction((a * differences_[second_] - c * differences_[0]) / determinant);
    if (!other) return std::nullopt;
    for (std::size_t row = 0; row < differences_.size(); ++row) {
      const Number sum = *one * values_[i][row] + *other * values_[j][row];
      if (!is_same(sum, differences_[row], scales_[row])) return std::nullopt;
    }
    Pair pair{products_[i], products_[j]};
    pair.one.factor = *one;
    pair.other.factor = *other;
    return pair;
  }

  const TermTable& table_;
  std::vector<Monomial> products_;
  std::vector<std::vector<Number>> values_;
  std::vector<Number> differences_, scales_;
  std::size_t second_ = 0;
};

Law law_of(const TermTable& table, std::size_t result, const Pair& pair) {
  const std::string& name = table.results()[result];
  const std::string one = text_of(pair.one, table), other = text_of(pair.other, table);
  const std::string here =
      fmt::format("here {} where {} is due", text_of_number(table.base().got[result]),
                  text_of_number(table.base().expected[result]));
  if (pair.one.factor > 0 && pair.other.factor > 0) {
    return {"RL0438", fmt::format("{} counts {} and {} too much: {}", name, one, other, here),
            kTickOff};
  }
  if (pair.one.factor < 0 && pair.other.factor < 0) {
    return {"RL0438", fmt::format("{} lacks the terms {} and {}: {}", name, one, other, here),
            kTickOff};
  }
  const bool first_is_due = pair.one.factor < 0;
  return {"RL0439",
          fmt::format("{} counts {} where {} is due: {}", name, first_is_due ? other : one,
                      first_is_due ? one : other, here),
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
        "count the smallest case by hand: which end is counted twice, or not at all?"};
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
  constexpr std::size_t kMostParameters = 6, kMostWithQuotients = 4;
  const Difference difference(table, result);
  const auto parameters = difference.parameters();
  if (parameters.empty() || parameters.size() > kMostParameters) return std::nullopt;
  const bool may_divide = parameters.size() <= kMostWithQuotients && !difference.is_whole();
  const auto pair =
      PairSearch(table, difference, products_of(table, parameters, may_divide ? -1 : 0)).run();
  if (!pair) return std::nullopt;
  return law_of(table, result, *pair);
}

}  // namespace rooflab
