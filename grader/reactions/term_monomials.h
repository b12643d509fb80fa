#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/reactions/term_table.h"

/// Products of parameters with small powers.
namespace rooflab {

/// factor * product of parameters[i] ^ powers[i]
struct Monomial {
  Number factor = 1;
  std::vector<int> powers;  ///< in the order of TermTable::parameters

  Number at(const TermRow& row) const;
  bool is_constant() const;
  /// Of several that fit, the one with the least is the simplest.
  int complexity() const;
};

/// A number by which people multiply: a small fraction. Nothing for all others.
std::optional<Number> small_fraction(Number value);

/// "2 * m * n / 3"; "1" where nothing is left.
std::string text_of(const Monomial& monomial, const TermTable& table);

/// "m = 3, n = 5": the monomial's parameters in a row.
std::string values_of(const Monomial& monomial, const TermTable& table, const TermRow& row);

/// A number of the table as a reader expects it.
std::string text_of_number(Number value);

/// "114 where 142 is due", of the case itself.
std::string in_this_case(const TermTable& table, std::size_t result);

/// The power with which a quantity grows with one parameter while the others stay; nothing where it
/// is no whole power, or no row tells.
std::optional<int> power_in(const TermTable& table, std::size_t parameter,
                            const std::function<Number(const TermRow&)>& quantity);

/// The monomial that a quantity is in all rows, found from those that do not prove, with a factor
/// that need not be small. Nothing where it is none.
/// @param scale of what the quantity was computed from, in a row
std::optional<Monomial> as_monomial(const TermTable& table,
                                    const std::function<Number(const TermRow&)>& quantity,
                                    const std::function<Number(const TermRow&)>& scale);

}  // namespace rooflab
