#include "simgpu/ptx/constant.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <string>

namespace simgpu::ptx {
namespace {

constexpr int kDeepestExpression = 100;  // bounds the parser's own stack
constexpr std::uint64_t kWarpSize = 32;

struct BinaryOperator {
  std::string_view spelling;
  int precedence;
};

// Longer spellings come first, so that "<<" is not taken for "<".
constexpr std::array kBinaryOperators = {
    BinaryOperator{"||", 1}, BinaryOperator{"&&", 2}, BinaryOperator{"==", 6},
    BinaryOperator{"!=", 6}, BinaryOperator{"<=", 7}, BinaryOperator{">=", 7},
    BinaryOperator{"<<", 8}, BinaryOperator{">>", 8}, BinaryOperator{"|", 3},
    BinaryOperator{"^", 4},  BinaryOperator{"&", 5},  BinaryOperator{"<", 7},
    BinaryOperator{">", 7},  BinaryOperator{"+", 9},  BinaryOperator{"-", 9},
    BinaryOperator{"*", 10}, BinaryOperator{"/", 10}, BinaryOperator{"%", 10},
};
constexpr int kLoosestPrecedence = 1;

Constant from_integer(std::uint64_t bits, bool is_unsigned = false) {
  return {.is_unsigned = is_unsigned, .bits = bits};
}
Constant from_double(double value) { return {.is_float = true, .real = value}; }

bool is_true(const Constant& value) { return value.is_float ? value.real != 0 : value.bits != 0; }

class ConstantParser {
 public:
  explicit ConstantParser(Lexer& lexer) : lexer_(lexer) {}

  Constant conditional() {
    const Nesting nesting(*this);
    const Constant condition = binary(kLoosestPrecedence);
    if (!lexer_.accept('?')) return condition;
    const Constant if_true = conditional();
    lexer_.expect(':', "between the two values of '?'");
    const Constant if_false = conditional();
    return is_true(condition) ? if_true : if_false;
  }

  Constant unary() {
    const Nesting nesting(*this);
    if (lexer_.accept('+')) return unary();
    if (lexer_.accept('-')) {
      const Constant value = unary();
      return value.is_float ? from_double(-value.real)
                            : from_integer(0 - value.bits, value.is_unsigned);
    }
    if (lexer_.accept('!')) return from_integer(is_true(unary()) ? 0 : 1);
    if (lexer_.peek().is('~')) {
      const Token at = lexer_.next();
      const Constant value = integer_operand(unary(), at);
      return from_integer(~value.bits, value.is_unsigned);
    }
    return primary();
  }

 private:
  /// Counts how deep the recursion is, since the text decides that.
  class Nesting {
   public:
    explicit Nesting(ConstantParser& parser) : parser_(parser) {
      if (++parser_.depth_ > kDeepestExpression) {
        parser_.lexer_.fail_at(
            parser_.lexer_.peek(),
            fmt::format("expected an expression of at most {} nested levels", kDeepestExpression));
      }
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ConstantParser& parser_;
  };

  Constant binary(int loosest) {
    const Nesting nesting(*this);
    Constant left = unary();
    while (const BinaryOperator* op = peek_operator()) {
      if (op->precedence < loosest) break;
      const Token at = lexer_.next();
      if (op->spelling.size() == 2) lexer_.next();
      const Constant right = binary(op->precedence + 1);
      left = left.is_float || right.is_float ? apply_real(*op, left, right, at)
                                             : apply_integer(*op, left, right, at);
    }
    return left;
  }

  const BinaryOperator* peek_operator() const {
    const Token& first = lexer_.peek();
    const Token& second = lexer_.peek_second();
    if (first.kind != TokenKind::punctuation) return nullptr;
    for (const BinaryOperator& op : kBinaryOperators) {
      if (!first.is(op.spelling.front())) continue;
      if (op.spelling.size() == 1 || (second.joined && second.is(op.spelling.back()))) return &op;
    }
    return nullptr;
  }

  Constant primary() {
    const Token token = lexer_.peek();
    if (token.is('(')) return parenthesised();
    if (token.is_identifier("WARP_SZ")) {
      lexer_.next();
      return from_integer(kWarpSize);
    }
    if (token.kind == TokenKind::integer) {
      lexer_.next();
      return integer_literal(token);
    }
    if (token.kind == TokenKind::floating) {
      lexer_.next();
      return float_literal(token);
    }
    if (token.kind == TokenKind::malformed) {
      lexer_.fail_at(token, fmt::format("expected a number, found '{}', which is malformed",
                                        token.text.substr(0, 40)));
    }
    lexer_.fail_expected("a constant");
  }

  /// (expression), or a cast (.s64) or (.u64) before a factor.
  Constant parenthesised() {
    lexer_.next();
    const bool to_unsigned = lexer_.peek().is_dot_word("u64");
    if (to_unsigned || lexer_.peek().is_dot_word("s64")) {
      lexer_.next();
      const Token at = lexer_.expect(')', "after the type of a cast");
      return from_integer(integer_operand(unary(), at).bits, to_unsigned);
    }
    const Constant value = conditional();
    lexer_.expect(')', "after an expression");
    return value;
  }

  Constant integer_literal(const Token& token) {
    std::string_view digits = token.text;
    const bool is_unsigned = digits.back() == 'U' || digits.back() == 'u';
    if (is_unsigned) digits.remove_suffix(1);
    int base = 10;
    if (digits.size() > 1 && digits[0] == '0') {
      const char prefix = digits[1];
      const bool is_hex = prefix == 'x' || prefix == 'X';
      const bool is_binary = prefix == 'b' || prefix == 'B';
      base = is_hex ? 16 : is_binary ? 2 : 8;
      digits.remove_prefix(is_hex || is_binary ? 2 : 1);
    }
    std::uint64_t bits = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), bits, base);
    if (error != std::errc() || end != digits.end()) {
      lexer_.fail_at(token, fmt::format("expected an integer of at most 64 bits, found '{}'",
                                        token.text.substr(0, 40)));
    }
    const bool needs_sign_bit = bits > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    return from_integer(bits, is_unsigned || needs_sign_bit);
  }

  Constant float_literal(const Token& token) {
    const std::string_view text = token.text;
    const char prefix = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
    const bool is_single = prefix == 'f' || prefix == 'F';
    if (!is_single && prefix != 'd' && prefix != 'D') {
      double value = 0;
      const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
      if (error != std::errc() || end != text.end()) {
        lexer_.fail_at(token, fmt::format("expected a number that a double can hold, found '{}'",
                                          text.substr(0, 40)));
      }
      return from_double(value);
    }
    std::uint64_t bits = 0;
    std::from_chars(text.begin() + 2, text.end(), bits, 16);
    if (!is_single) return from_double(std::bit_cast<double>(bits));
    Constant single = from_double(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    single.is_single = true;
    single.bits = bits;
    return single;
  }

  Constant integer_operand(const Constant& value, const Token& at) const {
    if (value.is_float) lexer_.fail_at(at, "expected an integer operand, found a float");
    return value;
  }

  Constant apply_real(const BinaryOperator& op, const Constant& left, const Constant& right,
                      const Token& at) const {
    const double a = left.as_double();
    const double b = right.as_double();
    const std::string_view name = op.spelling;
    if (name == "+") return from_double(a + b);
    if (name == "-") return from_double(a - b);
    if (name == "*") return from_double(a * b);
    if (name == "/") return from_double(a / b);
    if (name == "==") return from_integer(a == b);
    if (name == "!=") return from_integer(a != b);
    if (name == "<") return from_integer(a < b);
    if (name == "<=") return from_integer(a <= b);
    if (name == ">") return from_integer(a > b);
    if (name == ">=") return from_integer(a >= b);
    lexer_.fail_at(at, fmt::format("expected integers on both sides of '{}', found a float", name));
  }

  Constant apply_integer(const BinaryOperator& op, const Constant& left, const Constant& right,
                         const Token& at) const {
    const std::uint64_t a = left.bits;
    const std::uint64_t b = right.bits;
    const bool is_unsigned = left.is_unsigned || right.is_unsigned;
    const std::string_view name = op.spelling;
    if (name == "||") return from_integer(a != 0 || b != 0);
    if (name == "&&") return from_integer(a != 0 && b != 0);
    if (name == "==") return from_integer(a == b);
    if (name == "!=") return from_integer(a != b);
    if (name == "|") return from_integer(a | b, is_unsigned);
    if (name == "^") return from_integer(a ^ b, is_unsigned);
    if (name == "&") return from_integer(a & b, is_unsigned);
    if (name == "+") return from_integer(a + b, is_unsigned);
    if (name == "-") return from_integer(a - b, is_unsigned);
    if (name == "*") return from_integer(a * b, is_unsigned);
    if (name == "<<") return from_integer(a << b % 64, left.is_unsigned);
    if (name == ">>") return shift_right(left, b);
    if (name == "/" || name == "%") return divide(name == "/", left, right, is_unsigned, at);
    return compare(name, left, right, is_unsigned);
  }

  /// As the assembler does, shifts take their count modulo 64.
  static Constant shift_right(const Constant& left, std::uint64_t count) {
    if (left.is_unsigned) return from_integer(left.bits >> count % 64, true);
    return from_integer(static_cast<std::uint64_t>(left.integer() >> count % 64));
  }

  Constant divide(bool quotient, const Constant& left, const Constant& right, bool is_unsigned,
                  const Token& at) const {
    if (right.bits == 0) lexer_.fail_at(at, "expected a divisor other than zero");
    if (is_unsigned) {
      return from_integer(quotient ? left.bits / right.bits : left.bits % right.bits, true);
    }
    // The one signed quotient that does not fit: negating wraps as the hardware does.
    if (right.integer() == -1) return from_integer(quotient ? 0 - left.bits : 0);
    return from_integer(static_cast<std::uint64_t>(quotient ? left.integer() / right.integer()
                                                            : left.integer() % right.integer()));
  }

  static Constant compare(std::string_view name, const Constant& left, const Constant& right,
                          bool is_unsigned) {
    const bool less = is_unsigned ? left.bits < right.bits : left.integer() < right.integer();
    const bool equal = left.bits == right.bits;
    if (name == "<") return from_integer(less);
    if (name == "<=") return from_integer(less || equal);
    if (name == ">") return from_integer(!less && !equal);
    return from_integer(!less);
  }

  Lexer& lexer_;
  int depth_ = 0;
};

}  // namespace

double Constant::as_double() const {
  if (is_float) return real;
  return is_unsigned ? static_cast<double>(bits) : static_cast<double>(integer());
}

bool at_constant(const Lexer& lexer) {
  const Token& token = lexer.peek();
  return token.kind == TokenKind::integer || token.kind == TokenKind::floating ||
         token.kind == TokenKind::malformed || token.is('-') || token.is('+') || token.is('~') ||
         token.is('(') || token.is_identifier("WARP_SZ");
}

Constant parse_constant(Lexer& lexer) { return ConstantParser(lexer).conditional(); }

Constant parse_constant_factor(Lexer& lexer) { return ConstantParser(lexer).unary(); }

std::int64_t parse_integer(Lexer& lexer, std::string_view what) {
  const Token at = lexer.peek();
  const Constant value = parse_constant(lexer);
  if (value.is_float) lexer.fail_at(at, fmt::format("expected {}, found a float", what));
  return value.integer();
}

std::uint64_t parse_count(Lexer& lexer, std::string_view what, std::uint64_t limit) {
  const Token at = lexer.peek();
  const Constant value = parse_constant(lexer);
  if (value.is_float) lexer.fail_at(at, fmt::format("expected {}, found a float", what));
  const bool negative = !value.is_unsigned && value.integer() < 0;
  if (negative || value.bits > limit) {
    lexer.fail_at(at, fmt::format("expected {} from 0 to {}, found {}", what, limit,
                                  negative ? fmt::format("{}", value.integer())
                                           : fmt::format("{}", value.bits)));
  }
  return value.bits;
}

}  // namespace simgpu::ptx
