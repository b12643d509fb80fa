#include "grader/reactions/term_monomials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace rooflab {
namespace {

constexpr int kHighestPower = 3;

/// Solves a symmetric system; unknowns that the others determine already become 0.
std::vector<Number> solved(std::vector<std::vector<Number>> matrix, std::vector<Number> right) {
  constexpr Number kSingular = 1e-9L;
  const std::size_t size = right.size();
  std::vector<Number> scale(size);
  for (std::size_t i = 0; i < size; ++i) scale[i] = matrix[i][i];
  std::vector<bool> is_free(size, false);
  for (std::size_t i = 0; i < size; ++i) {
    if (std::abs(matrix[i][i]) <= kSingular * scale[i]) {
      is_free[i] = true;
      continue;
    }
    for (std::size_t j = i + 1; j < size; ++j) {
      const Number times = matrix[j][i] / matrix[i][i];
      for (std::size_t k = i; k < size; ++k) matrix[j][k] -= times * matrix[i][k];
      right[j] -= times * right[i];
    }
  }
  std::vector<Number> solution(size, 0);
  for (std::size_t i = size; i-- > 0;) {
    if (is_free[i]) continue;
    Number sum = right[i];
    for (std::size_t j = i + 1; j < size; ++j) sum -= matrix[i][j] * solution[j];
    solution[i] = sum / matrix[i][i];
  }
  return solution;
}

/// The powers with which a quantity grows, from the logarithms of all rows that do not prove.
std::optional<std::vector<int>> powers_of(const TermTable& table,
                                          const std::function<Number(const TermRow&)>& quantity) {
  const std::vector<std::size_t> varying = table.varying();
  const std::size_t size = varying.size();
  std::vector<std::vector<Number>> matrix(size, std::vector<Number>(size, 0));
  std::vector<Number> right(size, 0);
  const TermRow& base = table.base();
  const Number at_base = quantity(base);
  if (at_base == 0) return std::nullopt;
  for (const TermRow& row : table.rows()) {
    if (row.proves) continue;
    const Number ratio = quantity(row) / at_base;
    if (!(ratio > 0) || !std::isfinite(ratio)) return std::nullopt;
    std::vector<Number> logarithms;
    logarithms.reserve(size);
    for (const std::size_t i : varying) {
      logarithms.push_back(std::log(std::abs(row.parameters[i] / base.parameters[i])));
    }
    for (std::size_t i = 0; i < size; ++i) {
      right[i] += logarithms[i] * std::log(ratio);
      for (std::size_t j = 0; j < size; ++j) matrix[i][j] += logarithms[i] * logarithms[j];
    }
  }
  constexpr Number kWhole = 1e-4L;
  std::vector<int> powers(table.parameters().size(), 0);
  const std::vector<Number> found = solved(std::move(matrix), std::move(right));
  for (std::size_t i = 0; i < size; ++i) {
    const Number power = std::round(found[i]);
    if (!(std::abs(found[i] - power) <= kWhole) || std::abs(power) > kHighestPower) {
      return std::nullopt;
    }
    powers[varying[i]] = static_cast<int>(power);
  }
  return powers;
}

std::string text_of_power(const std::string& name, int power) {
  return power == 1 ? name : fmt::format("{}^{}", name, power);
}

}  // namespace

Number Monomial::at(const TermRow& row) const {
  Number value = factor;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    for (int k = 0; k < std::abs(powers[i]); ++k) {
      value = powers[i] > 0 ? value * row.parameters[i] : value / row.parameters[i];
    }
  }
  return value;
}

bool Monomial::is_constant() const {
  return std::ranges::all_of(powers, [](int power) { return power == 0; });
}

int Monomial::complexity() const {
  int sum = std::abs(factor) == 1 ? 0 : 1;
  for (const int power : powers) sum += power < 0 ? 2 * -power : power;
  return sum;
}

std::optional<Number> small_fraction(Number value) {
  constexpr int kLargestAbove = 100, kLargestBelow = 16;
  constexpr Number kSame = 1e-9L;
  for (int below = 1; below <= kLargestBelow; ++below) {
    const Number above = std::round(value * below);
    if (above == 0 || std::abs(above) > kLargestAbove) continue;
    if (std::abs(value * below / above - 1) <= kSame) return above / below;
  }
  return std::nullopt;
}

std::string text_of_number(Number value) {
  constexpr Number kExact = 9e18L;
  if (value == std::rint(value) && std::abs(value) < kExact) {
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
  return fmt::format("{:.6g}", static_cast<double>(value));
}

std::string text_of(const Monomial& monomial, const TermTable& table) {
  std::string above, below;
  const auto append = [](std::string& text, const char* between, const std::string& more) {
    text += (text.empty() ? "" : between) + more;
  };
  Number factor = std::abs(monomial.factor), divisor = 1;
  while (divisor < 16 && factor * divisor != std::round(factor * divisor) &&
         small_fraction(factor)) {
    ++divisor;
  }
  if (std::abs(factor * divisor - std::round(factor * divisor)) > 1e-9L) divisor = 1;
  if (factor * divisor != 1) append(above, " * ", text_of_number(factor * divisor));
  for (std::size_t i = 0; i < monomial.powers.size(); ++i) {
    const int power = monomial.powers[i];
    if (power > 0) append(above, " * ", text_of_power(table.parameters()[i], power));
    if (power < 0) below += " / " + text_of_power(table.parameters()[i], -power);
  }
  if (divisor != 1) below += " / " + text_of_number(divisor);
  return (above.empty() ? "1" : above) + below;
}

std::string values_of(const Monomial& monomial, const TermTable& table, const TermRow& row) {
  std::string text;
  for (std::size_t i = 0; i < monomial.powers.size(); ++i) {
    if (monomial.powers[i] == 0) continue;
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", table.parameters()[i],
                        text_of_number(row.parameters[i]));
  }
  return text;
}

std::string in_this_case(const TermTable& table, std::size_t result) {
  return fmt::format("{} where {} is due", text_of_number(table.base().got[result]),
                     text_of_number(table.base().expected[result]));
}

std::optional<int> power_in(const TermTable& table, std::size_t parameter,
                            const std::function<Number(const TermRow&)>& quantity) {
  constexpr Number kWhole = 1e-6L;
  const auto others = table.with_other(parameter);
  const Number at_base = quantity(table.base());
  if (others.empty() || at_base == 0) return std::nullopt;
  std::optional<int> power;
  for (const TermRow* row : others) {
    const Number ratio = quantity(*row) / at_base;
    if (!(ratio > 0) || !std::isfinite(ratio)) return std::nullopt;
    const Number found =
        std::log(ratio) / std::log(row->parameters[parameter] / table.base().parameters[parameter]);
    const Number nearest = std::round(found);
    if (!(std::abs(found - nearest) <= kWhole) || std::abs(nearest) > kHighestPower) {
      return std::nullopt;
    }
    if (power && *power != static_cast<int>(nearest)) return std::nullopt;
    power = static_cast<int>(nearest);
  }
  return power;
}

std::optional<Monomial> as_monomial(const TermTable& table,
                                    const std::function<Number(const TermRow&)>& quantity,
                                    const std::function<Number(const TermRow&)>& scale) {
  const auto powers = powers_of(table, quantity);
  if (!powers) return std::nullopt;
  Monomial monomial{1, *powers};
  monomial.factor = quantity(table.base()) / monomial.at(table.base());
  if (const auto fraction = small_fraction(monomial.factor)) monomial.factor = *fraction;
  const bool holds = std::ranges::all_of(table.rows(), [&](const TermRow& row) {
    return is_same(quantity(row), monomial.at(row), scale(row));
  });
  if (!holds) return std::nullopt;
  return monomial;
}

}  // namespace rooflab
