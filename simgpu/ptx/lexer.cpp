#include "simgpu/ptx/lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "simgpu/ptx/parser.h"

namespace simgpu::ptx {
namespace {

// <cctype> depends on the locale and on the sign of char; PTX is ASCII.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_' || c == '$'; }
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

constexpr std::size_t kExcerptBefore = 70;  // characters of a long line shown before the caret
constexpr std::size_t kExcerptAfter = 40;
constexpr std::size_t kLongestQuoted = 40;  // of the token that was found

/// The bytes as one printable line: the source is untrusted and may hold control characters.
std::string printable(std::string_view bytes) {
  std::string shown;
  for (const char byte : bytes) {
    const bool plain = byte >= ' ' && byte <= '~';
    if (byte == '\t') {
      shown += ' ';
    } else {
      shown +=
          plain ? std::string(1, byte) : fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
  }
  return shown;
}

std::string clipped(std::string_view text) {
  if (text.size() <= kLongestQuoted) return printable(text);
  return printable(text.substr(0, kLongestQuoted)) + "...";
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::end:
      return "the end of the text";
    case TokenKind::dot_word:
      return fmt::format("'.{}'", clipped(token.text));
    case TokenKind::string:
      return fmt::format("\"{}\"", clipped(token.text));
    default:
      return fmt::format("'{}'", clipped(token.text));
  }
}

}  // namespace

Lexer::Lexer(std::string_view source) : source_(source) {
  current_ = scan();
  following_ = scan();
}

Token Lexer::next() {
  const Token taken = current_;
  current_ = following_;
  following_ = scan();
  return taken;
}

bool Lexer::accept(char character) {
  if (!current_.is(character)) return false;
  next();
  return true;
}

bool Lexer::accept_dot_word(std::string_view word) {
  if (!current_.is_dot_word(word)) return false;
  next();
  return true;
}

Token Lexer::expect(char character, std::string_view context) {
  if (!current_.is(character)) fail_expected(fmt::format("'{}' {}", character, context));
  return next();
}

Token Lexer::expect_identifier(std::string_view what) {
  if (current_.kind != TokenKind::identifier) fail_expected(what);
  return next();
}

void Lexer::fail_expected(std::string_view what) const {
  fail_at(current_, fmt::format("expected {}, found {}", what, describe(current_)));
}

void Lexer::fail_at(const Token& token, const std::string& message) const {
  const std::size_t offset = std::min(token.offset, source_.size());
  const std::size_t newline =
      offset == 0 ? std::string_view::npos : source_.rfind('\n', offset - 1);
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const std::size_t end = std::min(source_.find_first_of("\r\n", offset), source_.size());
  const std::size_t shown_from = std::max(begin, offset - std::min(offset, kExcerptBefore));
  const std::size_t shown_to = std::min(end, offset + kExcerptAfter);
  const std::string before = printable(source_.substr(shown_from, offset - shown_from));
  const std::string after = printable(source_.substr(offset, shown_to - offset));
  const std::string gutter = fmt::format("{} | ", token.line);
  const auto column = static_cast<std::uint32_t>(offset - begin + 1);
  throw ParseError(token.line, column,
                   fmt::format("{}\n{}{}{}\n{:>{}}{:>{}}^", message, gutter, before, after, "| ",
                               gutter.size(), "", before.size()));
}

void Lexer::skip_blanks() {
  while (position_ < source_.size()) {
    const char c = source_[position_];
    const bool line_begins = position_ == 0 || source_[position_ - 1] == '\n';
    if (is_blank(c)) {
      line_ += c == '\n';
      ++position_;
    } else if ((c == '/' && at(position_ + 1) == '/') || (c == '#' && line_begins)) {
      position_ = std::min(source_.find('\n', position_), source_.size());
    } else if (c == '/' && at(position_ + 1) == '*') {
      const std::size_t close = source_.find("*/", position_ + 2);
      const std::size_t end = close == std::string_view::npos ? source_.size() : close + 2;
      line_ += static_cast<std::uint32_t>(
          std::count(source_.begin() + position_, source_.begin() + end, '\n'));
      position_ = end;
    } else {
      return;
    }
  }
}

std::size_t Lexer::end_of_word(std::size_t from) const {
  while (is_word(at(from))) ++from;
  return from;
}

/// .L2::128B and the like are one word.
std::size_t Lexer::end_of_dot_word(std::size_t from) const {
  std::size_t end = end_of_word(from);
  while (at(end) == ':' && at(end + 1) == ':' && is_word(at(end + 2))) end = end_of_word(end + 2);
  return end;
}

/// e5, E+5 or e-5.
bool Lexer::is_exponent(std::size_t from) const {
  if (at(from) != 'e' && at(from) != 'E') return false;
  const bool has_sign = at(from + 1) == '+' || at(from + 1) == '-';
  return is_digit(at(from + (has_sign ? 2 : 1)));
}

TokenKind Lexer::scan_number(std::size_t& end) const {
  const char prefix = at(position_) == '0' ? at(position_ + 1) : '\0';
  end = position_ + 2;
  if (prefix == 'f' || prefix == 'F' || prefix == 'd' || prefix == 'D') {
    while (is_hex(at(end))) ++end;
    const std::size_t digits = prefix == 'f' || prefix == 'F' ? 8 : 16;
    return end - position_ - 2 == digits && !is_word(at(end)) ? TokenKind::floating
                                                              : TokenKind::malformed;
  }
  TokenKind kind = TokenKind::integer;
  if (prefix == 'x' || prefix == 'X') {
    while (is_hex(at(end))) ++end;
  } else if (prefix == 'b' || prefix == 'B') {
    while (at(end) == '0' || at(end) == '1') ++end;
  } else {
    end = position_;
    while (is_digit(at(end))) ++end;
    const bool exponent_after_point = at(end) == '.' && is_exponent(end + 1);
    if (at(end) == '.' &&
        (exponent_after_point || !(is_letter(at(end + 1)) || at(end + 1) == '_'))) {
      kind = TokenKind::floating;
      ++end;
      while (is_digit(at(end))) ++end;
    }
    if (is_exponent(end)) {
      kind = TokenKind::floating;
      end += 2;
      while (is_digit(at(end))) ++end;
    }
  }
  if (kind == TokenKind::integer && (at(end) == 'U' || at(end) == 'u')) ++end;
  if (!is_word(at(end))) return kind;
  end = end_of_word(end);
  return TokenKind::malformed;
}

TokenKind Lexer::scan_string(std::size_t& end) {
  end = position_ + 1;
  while (end < source_.size() && source_[end] != '"' && source_[end] != '\n') {
    end += source_[end] == '\\' && at(end + 1) != '\n' ? 2 : 1;
  }
  if (at(end) != '"') {
    end = std::min(end, source_.size());
    return TokenKind::malformed;
  }
  ++end;
  return TokenKind::string;
}

Token Lexer::scan() {
  const std::size_t before = position_;
  skip_blanks();
  Token token;
  token.offset = position_;
  token.line = line_;
  token.joined = position_ == before && position_ != 0;
  if (position_ >= source_.size()) return token;

  const char c = source_[position_];
  std::size_t end = position_ + 1;
  std::size_t begin = position_;
  if (is_letter(c) || c == '_' || c == '$' || (c == '%' && is_word(at(end)))) {
    token.kind = TokenKind::identifier;
    end = end_of_word(end);
  } else if (is_digit(c) || (c == '.' && is_digit(at(end)) && !token.joined)) {
    token.kind = scan_number(end);
  } else if (c == '.' && is_word(at(end))) {
    token.kind = TokenKind::dot_word;
    end = end_of_dot_word(end);
    ++begin;
  } else if (c == '"') {
    token.kind = scan_string(end);
  } else {
    token.kind = TokenKind::punctuation;
  }
  const bool quoted = token.kind == TokenKind::string;
  token.text = source_.substr(begin + quoted, end - begin - 2 * quoted);
  position_ = end;
  return token;
}

}  // namespace simgpu::ptx
