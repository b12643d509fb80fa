#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rooflab {

/// Numbers by name, as a question's prompt and its key's formulas know them.
using NamedNumbers = std::map<std::string, double>;

/// A formula that has no value: what is wrong with it, in words.
class FormulaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The value of a formula such as "2 * n^3 / (3 * 4 * n^2)": numbers, names, + - * / ^,
/// parentheses, and the functions min, max, floor, ceil, sqrt, exp and log (natural). ^ binds
/// before a sign on its left and groups from the right, as on paper. Formulas have at most 500
/// characters and nest 30 deep.
/// @throws FormulaError for what is no formula, a name without a number, and a value that is not
/// finite
double value_of(std::string_view formula, const NamedNumbers& numbers);

}  // namespace rooflab
