#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Pointwise expressions of fuser.h in fp64, on a stack, with a bound of how far fp32 arithmetic
/// may be off.
namespace rooflab {

/// A value, and how far a right result in fp32 may be from it.
struct Approximate {
  double value = 0;
  double error = 0;
};

/// How an expression may be misread. The defaults are right.
struct ExpressionRule {
  bool sub_swapped = false;
  bool div_swapped = false;
  bool select_swapped = false;
  bool min_is_max = false;  ///< and max is min
  /// min and max by `a < b ? a : b` and `a > b ? a : b`: with a NaN, the second operand
  bool extremes_by_comparison = false;
  bool rsqrt_is_sqrt = false;
  bool six_decimals = false;      ///< constants as std::to_string prints them
  bool whole_constants = false;   ///< constants as integers
  bool inputs_in_order = false;   ///< inputs numbered as they appear
  bool only_first_input = false;  ///< every input is the first one used
};

/// Postfix notation: "x0 x1 add 0.5 mul" is (x0 + x1) * 0.5; `dup` is the value before it once
/// more. Constants are floats, inf and nan among them.
class PostfixExpression {
 public:
  /// @throws std::invalid_argument naming the word that is wrong
  explicit PostfixExpression(const std::string& text, const ExpressionRule& rule = {});

  /// @param inputs one value for each input there is
  Approximate evaluate(const std::vector<double>& inputs) const;

  const std::vector<std::int64_t>& used_inputs() const { return used_; }  ///< ascending
  std::int64_t additions_and_products() const { return flops_; }          ///< of one element
  std::size_t nodes() const { return steps_.size(); }

 private:
  struct Step {
    std::string word;
    std::int64_t input = -1;
    double constant = 0;
  };

  std::vector<Step> steps_;
  std::vector<std::int64_t> used_;
  std::int64_t flops_ = 0;
  ExpressionRule rule_;
};

}  // namespace rooflab
