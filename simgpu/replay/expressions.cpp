#include "simgpu/replay/expressions.h"

#include <charconv>
#include <cstddef>
#include <string_view>

namespace simgpu::replay {
namespace {

class Reader {
 public:
  Reader(const std::vector<Token>& tokens, const IntegerNames& names)
      : tokens_(tokens), names_(names) {}

  std::optional<std::int64_t> run() {
    const auto value = sum();
    return at_ == tokens_.size() ? value : std::nullopt;
  }

 private:
  using Value = std::optional<std::int64_t>;

  bool is(std::string_view text) const { return at_ < tokens_.size() && tokens_[at_].text == text; }
  bool take(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }

  /// As a program would compute it: what goes beyond 64 bits is lost.
  static Value combined(char sign, Value a, Value b) {
    if (!a || !b) return std::nullopt;
    const auto x = static_cast<std::uint64_t>(*a), y = static_cast<std::uint64_t>(*b);
    if (sign == '+') return static_cast<std::int64_t>(x + y);
    if (sign == '-') return static_cast<std::int64_t>(x - y);
    if (sign == '*') return static_cast<std::int64_t>(x * y);
    if (*b <= 0 || *a < 0) return std::nullopt;
    return sign == '/' ? *a / *b : *a % *b;
  }

  Value sum() {
    Value value = product();
    while (is("+") || is("-")) {
      const char sign = tokens_[at_++].text[0];
      value = combined(sign, value, product());
    }
    return value;
  }

  Value product() {
    Value value = atom();
    while (is("*") || is("/") || is("%")) {
      const char sign = tokens_[at_++].text[0];
      value = combined(sign, value, atom());
    }
    return value;
  }

  Value atom() {
    constexpr int kDeepest = 50;
    if (at_ >= tokens_.size() || ++depth_ > kDeepest) return std::nullopt;
    Value value;
    if (take("(")) {
      value = sum();
      if (!take(")")) value.reset();
    } else if (take("static_cast")) {
      while (at_ < tokens_.size() && !is("(")) ++at_;
      value = atom();
    } else if (tokens_[at_].kind == Token::Kind::literal) {
      value = literal(tokens_[at_++].text);
    } else if (tokens_[at_].kind == Token::Kind::word) {
      std::string name = tokens_[at_++].text;
      if (is(".") && at_ + 1 < tokens_.size()) {
        name += "." + tokens_[at_ + 1].text;
        at_ += 2;
      }
      value = names_(name);
    }
    --depth_;
    return value;
  }

  static Value literal(std::string_view text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    const std::string_view rest(at, static_cast<std::size_t>(end - at));
    const bool is_plain = rest.find_first_not_of("uUlL") == std::string_view::npos;
    const bool is_octal = text.size() > 1 && text[0] == '0';
    if (error != std::errc() || !is_plain || is_octal) return std::nullopt;
    return value;
  }

  const std::vector<Token>& tokens_;
  const IntegerNames& names_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<std::int64_t> integer_value(const std::vector<Token>& expression,
                                          const IntegerNames& names) {
  return Reader(expression, names).run();
}

}  // namespace simgpu::replay
