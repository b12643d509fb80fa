#include "grader/spec/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace rooflab {
namespace {

constexpr std::size_t kLongest = 500;  // characters
constexpr int kDeepest = 30;

bool begins_name(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_in_name(char c) { return begins_name(c) || is_digit(c) || c == '_'; }

/// The value of a function; nothing where none has that name and so many arguments.
double call(const std::string& name, const std::vector<double>& arguments) {
  if (arguments.size() == 1) {
    const double x = arguments.front();
    if (name == "floor") return std::floor(x);
    if (name == "ceil") return std::ceil(x);
    if (name == "sqrt") return std::sqrt(x);
    if (name == "exp") return std::exp(x);
    if (name == "log") return std::log(x);
  }
  if (name == "min") return std::ranges::min(arguments);
  if (name == "max") return std::ranges::max(arguments);
  throw FormulaError(
      fmt::format("there is no function {} of {} arguments", name, arguments.size()));
}

/// Evaluates while it reads: one function for each level of precedence, from the loosest.
class Evaluator {
 public:
  Evaluator(std::string_view text, const NamedNumbers& numbers) : text_(text), numbers_(numbers) {}

  double evaluate() {
    const double value = sum();
    if (at_ < text_.size()) fail(fmt::format("`{}` is not expected", text_[at_]));
    return value;
  }

 private:
  double sum() {
    double value = product();
    while (true) {
      if (take('+')) {
        value += product();
      } else if (take('-')) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = signed_power();
    while (true) {
      if (take('*')) {
        value *= signed_power();
      } else if (take('/')) {
        value /= signed_power();
      } else {
        return value;
      }
    }
  }

  double signed_power() {
    const Level level(*this);
    return take('-') ? -signed_power() : power();
  }

  double power() {
    const double base = atom();
    return take('^') ? std::pow(base, signed_power()) : base;
  }

  double atom() {
    if (take('(')) {
      const double value = sum();
      expect(')');
      return value;
    }
    skip_blanks();
    if (at_ == text_.size()) fail("it ends where a number or a name is expected");
    if (is_digit(text_[at_])) return number();
    if (begins_name(text_[at_])) return named();
    fail(fmt::format("`{}` is not expected", text_[at_]));
  }

  double number() {
    double value = 0;
    const char* const end = text_.data() + text_.size();
    const auto read = std::from_chars(text_.data() + at_, end, value);
    if (read.ec != std::errc()) fail("a number is too large or too small");
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    return value;
  }

  double named() {
    const std::size_t first = at_;
    while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
    const std::string name(text_.substr(first, at_ - first));
    if (take('(')) {
      std::vector<double> arguments = {sum()};
      while (take(',')) arguments.push_back(sum());
      expect(')');
      return call(name, arguments);
    }
    const auto known = numbers_.find(name);
    if (known == numbers_.end()) fail(fmt::format("the question draws no number {}", name));
    return known->second;
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool take(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    skip_blanks();
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) fail(fmt::format("`{}` is missing", wanted));
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw FormulaError(fmt::format("{} (character {})", why, at_ + 1));
  }

  /// Every way to nest leads through signed_power().
  struct Level {
    explicit Level(Evaluator& owner) : owner_(owner) {
      if (++owner_.depth_ > kDeepest) owner_.fail("it nests too deep");
    }
    ~Level() { --owner_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Evaluator& owner_;
  };

  std::string_view text_;
  const NamedNumbers& numbers_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

double value_of(std::string_view formula, const NamedNumbers& numbers) {
  if (formula.size() > kLongest) {
    throw FormulaError(fmt::format("it has more than {} characters", kLongest));
  }
  const double value = Evaluator(formula, numbers).evaluate();
  if (!std::isfinite(value)) throw FormulaError("its value is not finite");
  return value;
}

}  // namespace rooflab
