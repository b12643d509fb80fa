#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "grader/mutation/expressions.h"
#include "grader/mutation/words.h"

/// Operands of a line in other places: behind a call instead of in it, or in each other's.
namespace rooflab::mutation {
namespace {

/// Functions of one number for which it matters whether a factor is in their argument.
constexpr std::array<std::string_view, 14> kOfOneNumber{
    "sqrtf", "sqrt", "rsqrtf", "rsqrt",  "tanhf",  "tanh", "expf",
    "exp",   "logf", "log",    "__expf", "__logf", "erff", "exp2f"};

std::string_view function_for(const CodeToken& sign) {
  return sign.is("/") ? "divided_if" : "multiplied_if";
}

}  // namespace

void ExpressionMutator::move_operands(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i + 1 < last; ++i) {
    const bool is_function =
        code_.is(i + 1, "(") &&
        std::ranges::find(kOfOneNumber, std::string_view(code_.at(i).text)) != kOfOneNumber.end();
    if (!is_function || code_.partner(i + 1) >= last || code_.partner(i + 1) == i + 2) continue;
    move_in(i, last);
    move_out(i);
  }
}

/// A number, a variable or a member: what may stand at two places.
/// @return the token behind it; `first` where something else begins there
std::size_t ExpressionMutator::simple_operand(std::size_t first, std::size_t last) const {
  if (first >= last) return first;
  const CodeToken& token = code_.at(first);
  std::size_t behind = first + 1;
  if (token.kind != CodeToken::Kind::number) {
    if (!token.is_word()) return first;
    while ((code_.is(behind, ".") || code_.is(behind, "->")) && code_.at(behind + 1).is_word()) {
      behind += 2;
    }
  }
  const CodeToken& next = code_.at(behind);
  const bool goes_on = next.is("(") || next.is("[") || next.is("<") || next.is("::") ||
                       next.is("++") || next.is("--");
  return goes_on || behind > last ? first : behind;
}

/// `tanhf(x) / y`: tanhf(x / y).
void ExpressionMutator::move_in(std::size_t function, std::size_t last) {
  const std::size_t close = code_.partner(function + 1);
  const CodeToken& sign = code_.at(close + 1);
  const std::size_t operand = close + 2, behind = simple_operand(operand, last);
  if (close + 1 >= last || !sign.is_factor_sign() || behind == operand) return;
  const std::string argument = code_.spelling(function + 2, close);
  const std::string moved = code_.spelling(operand, behind);
  const int number = mutants_.add_alone(
      MutantKind::argument, function, code_.spelling(function, behind),
      fmt::format("{}({} {} {})", code_.at(function).text, argument, sign.text, moved));
  wrap_later(function + 2, close - 1, call(function_for(sign), number),
             fmt::format(", {})", moved));
  wrap_later(operand, behind - 1, call("unless", number), ")");
}

/// `sqrtf(x / y)`: sqrtf(x) / y.
void ExpressionMutator::move_out(std::size_t function) {
  const std::size_t close = code_.partner(function + 1);
  std::size_t sign = function;
  for (std::size_t i = function + 2; i < close; ++i) {
    if (code_.at(i).opens()) {
      i = code_.partner(i);
      continue;
    }
    // Of a sum the last factor belongs to its last term alone.
    if (code_.is(i, "+") || code_.is(i, "-") || code_.is(i, ",") || code_.is(i, "?")) return;
    if (code_.at(i).is_factor_sign()) sign = i;
  }
  const bool is_qualified =
      function > 0 && (code_.is(function - 1, "::") || code_.is(function - 1, "."));
  if (sign <= function + 2 || is_qualified || simple_operand(sign + 1, close) != close) return;
  const std::string moved = code_.spelling(sign + 1, close);
  const int number = mutants_.add_alone(
      MutantKind::argument, function, code_.spelling(function, close + 1),
      fmt::format("{}({}) {} {}", code_.at(function).text, code_.spelling(function + 2, sign),
                  code_.at(sign).text, moved));
  wrap_later(sign + 1, close - 1, call("unless", number), ")");
  wrap_later(function, close, call(function_for(code_.at(sign)), number),
             fmt::format(", {})", moved));
}

void ExpressionMutator::exchange_arguments(std::size_t open) {
  const std::size_t close = code_.partner(open);
  std::vector<std::size_t> commas;
  for (std::size_t i = open + 1; i < close; ++i) {
    if (code_.at(i).opens()) i = code_.partner(i);
    if (code_.is(i, ",")) commas.push_back(i);
  }
  if (commas.empty()) return;
  const std::size_t behind = commas.size() > 1 ? commas[1] : close;
  if (commas[0] == open + 1 || behind == commas[0] + 1) return;
  const std::string one = code_.spelling(open + 1, commas[0]);
  const std::string other = code_.spelling(commas[0] + 1, behind);
  const int number =
      mutants_.add_alone(MutantKind::exchange, open + 1, one + ", " + other, other + ", " + one);
  wrap_later(open + 1, commas[0] - 1, call("either", number), fmt::format(", {})", other));
  wrap_later(commas[0] + 1, behind - 1, call("either", number), fmt::format(", {})", one));
}

}  // namespace rooflab::mutation
