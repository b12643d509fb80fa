#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "grader/mutation/expressions.h"
#include "grader/mutation/words.h"

/// Sums next to products: parentheses that are missing, and a factor that stands at the other
/// operand.
namespace rooflab::mutation {
namespace {

/// Whether an operand of a sum ends before this token, if it stands behind a value.
bool ends_operand(const CodeToken& token) {
  constexpr std::array<std::string_view, 26> kEnds{
      "+",  "-", ",",  ";",  "?",  ":",  "<",  ">",  "<=", ">=", "==", "!=", "&&",
      "||", "=", "+=", "-=", "*=", "/=", "%=", "<<", ">>", "&",  "|",  "^",  "%"};
  return token.is_one_of(kEnds);
}

}  // namespace

void ExpressionMutator::regroup_sums(std::size_t first, std::size_t last) {
  for (std::size_t i = first + 1; i + 1 < last; ++i) {
    const bool is_sum = (code_.is(i, "+") || code_.is(i, "-")) && is_binary(i, first);
    if (!is_sum) continue;
    const Operand left = operand_before(i, first), right = operand_behind(i, last);
    if (left.first == i || right.behind == i + 1) continue;
    if (left.sign != i) widen_right(left, right);
    if (right.sign != i) widen_left(left, right);
    if (code_.is(i, "+")) move_factor(left, right);
  }
}

/// What stands before the sign of a sum.
ExpressionMutator::Operand ExpressionMutator::operand_before(std::size_t sum,
                                                             std::size_t first) const {
  Operand operand{sum, sum, sum};
  for (std::size_t i = sum; i-- > first;) {
    const CodeToken& token = code_.at(i);
    if (token.closes()) {
      const std::size_t open = code_.partner(i);
      if (open >= i || open < first) break;
      i = open;
    } else if (token.opens() || token.is("return")) {
      break;
    } else if (token.is_factor_sign() && is_binary(i, first)) {
      if (operand.sign == sum) operand.sign = i;
    } else if (ends_operand(token)) {
      break;
    }
    operand.first = i;
  }
  return operand;
}

/// What stands behind it.
ExpressionMutator::Operand ExpressionMutator::operand_behind(std::size_t sum,
                                                             std::size_t last) const {
  Operand operand{sum + 1, sum + 1, sum};
  for (std::size_t i = sum + 1; i < last; ++i) {
    const CodeToken& token = code_.at(i);
    if (token.opens()) {
      const std::size_t close = code_.partner(i);
      if (close >= last) break;
      i = close;
    } else if (token.closes()) {
      break;
    } else if (token.is_factor_sign() && i > sum + 1) {
      if (operand.sign == sum) operand.sign = i;
    } else if (ends_operand(token)) {
      break;
    }
    operand.behind = i + 1;
  }
  return operand;
}

/// `a * b + c`: a * (b + c).
void ExpressionMutator::widen_right(const Operand& left, const Operand& right) {
  const std::size_t sum = left.behind;
  const std::string before = code_.spelling(left.first, right.behind);
  const std::string factor = code_.spelling(left.sign + 1, sum);
  const std::string added = code_.spelling(right.first, right.behind);
  const int number =
      mutants_.add_alone(MutantKind::argument, sum, before,
                         fmt::format("{} ({} {} {})", code_.spelling(left.first, left.sign + 1),
                                     factor, code_.at(sum).text, added));
  wrap_later(left.sign + 1, sum - 1,
             call(code_.is(sum, "+") ? "increased_if" : "decreased_if", number),
             fmt::format(", {})", added));
  wrap_later(right.first, right.behind - 1, call("nothing_if", number),
             fmt::format(", {})", factor));
}

/// `a + b * c`: (a + b) * c. Of a difference, a - (b - a) * c has the sign of it.
void ExpressionMutator::widen_left(const Operand& left, const Operand& right) {
  const std::size_t sum = left.behind;
  const std::string before = code_.spelling(left.first, right.behind);
  const std::string factor = code_.spelling(right.first, right.sign);
  const std::string added = code_.spelling(left.first, sum);
  const int number =
      mutants_.add_alone(MutantKind::argument, sum, before,
                         fmt::format("({} {} {}) {}", added, code_.at(sum).text, factor,
                                     code_.spelling(right.sign, right.behind)));
  wrap_later(right.first, right.sign - 1,
             call(code_.is(sum, "+") ? "increased_if" : "decreased_if", number),
             fmt::format(", {})", added));
  wrap_later(left.first, sum - 1, call("nothing_if", number), fmt::format(", {})", factor));
}

/// `a + b * c`: a * c + b, and the same the other way round.
void ExpressionMutator::move_factor(const Operand& left, const Operand& right) {
  const std::size_t sum = left.behind;
  const auto move = [&](const Operand& from, const Operand& to, bool is_left) {
    const std::size_t sign = from.sign;
    if (sign == sum || !code_.is(sign, "*")) return;
    if (simple_operand(sign + 1, from.behind) != from.behind) return;  // one factor of two
    const std::string factor = code_.spelling(sign + 1, from.behind);
    const std::string rest = code_.spelling(from.first, sign);
    const std::string grown = fmt::format("{} * {}", code_.spelling(to.first, to.behind), factor);
    const int number = mutants_.add_alone(
        MutantKind::argument, sum, code_.spelling(left.first, right.behind),
        is_left ? fmt::format("{} + {}", rest, grown) : fmt::format("{} + {}", grown, rest));
    wrap_later(sign + 1, from.behind - 1, call("unless", number), ")");
    wrap_later(to.first, to.behind - 1, call("multiplied_if", number),
               fmt::format(", {})", factor));
  };
  move(left, right, true);
  move(right, left, false);
}

}  // namespace rooflab::mutation
