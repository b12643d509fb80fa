#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace simgpu::ptx {

enum class TokenKind : std::uint8_t {
  end,
  identifier,   ///< foo, $L__BB0_2, %tid, _
  dot_word,     ///< .shared::cta, without its dot
  integer,      ///< 12, 0x1F, 017, 0b101, each perhaps with U
  floating,     ///< 0f3F800000, 0d…, 1.5e3
  string,       ///< "…", without the quotes, escapes as written
  punctuation,  ///< one character; also any byte that PTX does not use
  malformed,    ///< a number or string that does not end as it should
};

/// A piece of the source text; views into it, so the text must outlive the token.
struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  std::size_t offset = 0;  ///< bytes from the start of the source to the token's first character
  std::uint32_t line = 1;
  bool joined = false;  ///< nothing stands between this token and the one before

  bool is(char character) const {
    return kind == TokenKind::punctuation && text.front() == character;
  }
  bool is_identifier(std::string_view word) const {
    return kind == TokenKind::identifier && text == word;
  }
  bool is_dot_word(std::string_view word) const {
    return kind == TokenKind::dot_word && text == word;
  }
};

/// Cuts PTX text into tokens, two ahead of the parser, and words the errors about them.
class Lexer {
 public:
  explicit Lexer(std::string_view source);

  const Token& peek() const { return current_; }
  const Token& peek_second() const { return following_; }
  Token next();

  /// Takes the next token if it is this character.
  bool accept(char character);
  /// Takes the next token if it is this word after a dot.
  bool accept_dot_word(std::string_view word);
  /// Takes the next token. @throws ParseError "expected '<character>' <context>" if it is another.
  Token expect(char character, std::string_view context);
  /// Takes the next token. @throws ParseError "expected <what>" if it is not an identifier.
  Token expect_identifier(std::string_view what);

  /// @throws ParseError "expected <what>, found <the next token>".
  [[noreturn]] void fail_expected(std::string_view what) const;
  /// @throws ParseError with this message at the token's place.
  [[noreturn]] void fail_at(const Token& token, const std::string& message) const;

  std::string_view source() const { return source_; }

 private:
  Token scan();
  void skip_blanks();
  std::size_t end_of_word(std::size_t from) const;
  std::size_t end_of_dot_word(std::size_t from) const;
  bool is_exponent(std::size_t from) const;
  TokenKind scan_number(std::size_t& end) const;
  TokenKind scan_string(std::size_t& end);
  char at(std::size_t offset) const { return offset < source_.size() ? source_[offset] : '\0'; }

  std::string_view source_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 1;
  Token current_;
  Token following_;
};

}  // namespace simgpu::ptx
