#include "labs/part4-fusion/oracle/expression.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "labs/oracle_support/rounding.h"

namespace rooflab {
namespace {

/// CUDA C++ Programming Guide, "Mathematical Functions": the maximum error of expf, tanhf and
/// rsqrtf is 2 ulp; additions, products, divisions and sqrtf round to nearest.
constexpr double kFunction = 2 * 2 * kFloat32Unit;
constexpr double kRounding = kFloat32Unit;

const std::map<std::string, std::size_t>& operands() {
  static const std::map<std::string, std::size_t> counts = {
      {"add", 2}, {"sub", 2}, {"mul", 2},  {"div", 2},  {"min", 2},   {"max", 2},   {"neg", 1},
      {"abs", 1}, {"exp", 1}, {"tanh", 1}, {"sqrt", 1}, {"rsqrt", 1}, {"select", 3}};
  return counts;
}

/// With the rounding of the operation itself. Infinities are exact.
Approximate rounded_once(double value, double error, double unit) {
  if (!std::isfinite(value)) return {value, 0};
  // Results below the normal numbers lose digits, or become zero.
  constexpr double kSubnormal = 0x1p-149;
  return {value, error + unit * std::abs(value) + kSubnormal};
}

Approximate product(const Approximate& a, const Approximate& b) {
  const double error =
      std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error;
  return rounded_once(a.value * b.value, error, kRounding);
}

Approximate quotient(const Approximate& a, const Approximate& b) {
  const double value = a.value / b.value;
  if (std::isinf(b.value)) return {value, 0};
  const double least = std::abs(b.value) - b.error;
  const double error = least > 0 ? (a.error + std::abs(value) * b.error) / least
                                 : std::numeric_limits<double>::infinity();
  return rounded_once(value, error, kRounding);
}

/// The one that CUDA's fminf and fmaxf take.
Approximate extreme(const Approximate& a, const Approximate& b, bool smaller) {
  if (std::isnan(a.value)) return b;
  if (std::isnan(b.value)) return a;
  const bool takes_a = smaller == (a.value < b.value);
  return {takes_a ? a.value : b.value, std::max(a.error, b.error)};
}

Approximate choice(const Approximate& a, const Approximate& b, const Approximate& c) {
  const Approximate& taken = a.value > 0 ? b : c;
  if (std::isnan(a.value) || std::abs(a.value) > a.error) return taken;
  if (a.error == 0) return taken;
  return {taken.value, std::abs(b.value - c.value) + std::max(b.error, c.error)};
}

Approximate root(const Approximate& a) {
  const double value = std::sqrt(a.value);
  return rounded_once(value, a.error / std::sqrt(std::max(a.value - a.error, 0x1p-149)), kRounding);
}

Approximate reciprocal_root(const Approximate& a) {
  const double value = 1 / std::sqrt(a.value);
  const double least = std::max(a.value - a.error, 0x1p-149);
  return rounded_once(value, a.error / (2 * least * std::sqrt(least)), kFunction);
}

Approximate exponential(const Approximate& a) {
  const double value = std::exp(a.value);
  return rounded_once(value, value * std::expm1(a.error), kFunction);
}

Approximate result_of(const std::string& word, const std::vector<Approximate>& x) {
  if (word == "add")
    return rounded_once(x[0].value + x[1].value, x[0].error + x[1].error, kRounding);
  if (word == "sub")
    return rounded_once(x[0].value - x[1].value, x[0].error + x[1].error, kRounding);
  if (word == "mul") return product(x[0], x[1]);
  if (word == "div") return quotient(x[0], x[1]);
  if (word == "min") return extreme(x[0], x[1], true);
  if (word == "max") return extreme(x[0], x[1], false);
  if (word == "neg") return {-x[0].value, x[0].error};
  if (word == "abs") return {std::abs(x[0].value), x[0].error};
  if (word == "exp") return exponential(x[0]);
  if (word == "tanh") return rounded_once(std::tanh(x[0].value), x[0].error, kFunction);
  if (word == "sqrt") return root(x[0]);
  if (word == "rsqrt") return reciprocal_root(x[0]);
  return choice(x[0], x[1], x[2]);
}

/// The operation that a rule makes of another one.
std::string misread(const std::string& word, const ExpressionRule& rule,
                    std::vector<Approximate>& x) {
  const bool swaps = (word == "sub" && rule.sub_swapped) || (word == "div" && rule.div_swapped);
  if (swaps) std::swap(x[0], x[1]);
  const bool is_extreme = word == "min" || word == "max";
  if (is_extreme && rule.extremes_by_comparison && std::isnan(x[1].value)) x[0] = x[1];
  if (word == "select" && rule.select_swapped) std::swap(x[1], x[2]);
  if (rule.min_is_max && word == "min") return "max";
  if (rule.min_is_max && word == "max") return "min";
  if (rule.rsqrt_is_sqrt && word == "rsqrt") return "sqrt";
  return word;
}

double constant_of(const std::string& word, const ExpressionRule& rule) {
  char* end = nullptr;
  const float value = std::strtof(word.c_str(), &end);
  if (end != word.c_str() + word.size()) {
    throw std::invalid_argument("`expression` has a word that is no operation, input or number: " +
                                word);
  }
  if (rule.whole_constants && std::isfinite(value)) return std::trunc(value);
  if (rule.six_decimals) return std::strtof(std::to_string(value).c_str(), nullptr);
  return value;
}

}  // namespace

PostfixExpression::PostfixExpression(const std::string& text, const ExpressionRule& rule)
    : rule_(rule) {
  std::istringstream words(text);
  std::size_t depth = 0;
  std::map<std::int64_t, std::int64_t> in_order;  // by the number of an input
  for (std::string word; words >> word;) {
    Step step{word};
    const auto operation = operands().find(word);
    const std::size_t needed = operation != operands().end() ? operation->second
                               : word == "dup"               ? 1
                                                             : 0;
    if (depth < needed) throw std::invalid_argument("`expression` has too few values for " + word);
    if (word == "dup") {
      ++depth;
    } else if (operation != operands().end()) {
      depth -= needed - 1;
      flops_ += word == "add" || word == "sub" || word == "mul" || word == "div" ? 1 : 0;
    } else {
      ++depth;
      if (word.front() == 'x') {
        step.input = std::stoll(word.substr(1));
        used_.push_back(step.input);
        const auto next = static_cast<std::int64_t>(in_order.size());
        const std::int64_t place = in_order.emplace(step.input, next).first->second;
        if (rule.inputs_in_order) step.input = place;
        if (rule.only_first_input) step.input = used_.front();
      } else {
        step.constant = constant_of(word, rule);
      }
    }
    steps_.push_back(std::move(step));
  }
  if (depth != 1) throw std::invalid_argument("`expression` leaves other than one value");
  std::ranges::sort(used_);
  used_.erase(std::ranges::unique(used_).begin(), used_.end());
}

Approximate PostfixExpression::evaluate(const std::vector<double>& inputs) const {
  std::vector<Approximate> stack;
  for (const Step& step : steps_) {
    const auto operation = operands().find(step.word);
    if (step.word == "dup") {
      stack.push_back(stack.back());
    } else if (operation != operands().end()) {
      const auto first = stack.end() - static_cast<std::ptrdiff_t>(operation->second);
      std::vector<Approximate> arguments(first, stack.end());
      stack.erase(first, stack.end());
      const std::string word = misread(step.word, rule_, arguments);
      stack.push_back(result_of(word, arguments));
    } else if (step.input >= 0) {
      stack.push_back({inputs.at(static_cast<std::size_t>(step.input)), 0});
    } else {
      stack.push_back({step.constant, 0});
    }
  }
  return stack.back();
}

}  // namespace rooflab
