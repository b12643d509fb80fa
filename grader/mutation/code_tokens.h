#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// A student's CUDA C++ as tokens that can be replaced.
namespace rooflab::mutation {

/// A word, a number, a string, or an operator of C++ with all of its signs.
struct CodeToken {
  enum class Kind : std::uint8_t { word, number, text, sign };
  Kind kind = Kind::sign;
  std::string text;
  std::size_t offset = 0;  ///< of its first byte in the source
  std::uint32_t line = 0;

  bool is(std::string_view sign) const { return text == sign; }
  template <std::size_t count>
  bool is_one_of(const std::array<std::string_view, count>& signs) const {
    return std::ranges::find(signs, std::string_view(text)) != signs.end();
  }
  bool is_word() const { return kind == Kind::word; }
  /// Whether it is a whole number, written down in decimals.
  bool is_whole() const {
    return kind == Kind::number && text.find_first_of(".eEfF") == std::string::npos;
  }
  bool is_factor_sign() const { return is("*") || is("/"); }
  bool is_sum_sign() const { return is("+") || is("-"); }
  /// Whether it is a parenthesis, bracket or brace that opens, or one that closes.
  bool opens() const { return is("(") || is("[") || is("{"); }
  bool closes() const { return is(")") || is("]") || is("}"); }
};

/// A source file as tokens, without comments and directives.
class Code {
 public:
  /// @param text untrusted
  explicit Code(std::string text);

  const std::string& text() const { return text_; }
  std::size_t size() const { return tokens_.size(); }
  /// Behind the last token: one without text.
  const CodeToken& at(std::size_t index) const;
  bool is(std::size_t index, std::string_view sign) const { return at(index).is(sign); }
  /// Of a parenthesis, bracket or brace: the one that closes or opens it; size() where there is
  /// none.
  std::size_t partner(std::size_t index) const {
    return index < size() ? partners_[index] : size();
  }
  /// The innermost parenthesis, bracket or brace that opens before a token and closes behind it;
  /// size() where there is none. Of one that closes, the one that opens it.
  std::size_t around(std::size_t index) const { return index < size() ? around_[index] : size(); }
  /// 1-based
  std::uint32_t column(std::size_t index) const;
  /// Tokens from `first` to before `last`, with a blank between them where the source has some.
  std::string spelling(std::size_t first, std::size_t last) const;
  /// How deep brackets of all kinds lie in each other at most.
  std::size_t depth() const { return depth_; }
  /// Directives change the numbers of lines, so that nothing can be said of them.
  bool renumbers_lines() const { return renumbers_lines_; }

 private:
  void find_partners();

  std::string text_;
  std::vector<CodeToken> tokens_;
  std::vector<std::size_t> partners_, around_;
  std::size_t depth_ = 0;
  bool renumbers_lines_ = false;
};

}  // namespace rooflab::mutation
