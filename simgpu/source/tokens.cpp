#include "simgpu/source/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace simgpu {
namespace {

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_word(char c) {
  return begins_word(c) || std::isdigit(static_cast<unsigned char>(c));
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  SourceTokens run() {
    while (skip_blanks()) {
      if (text_[at_] == '#' && begins_line_) {
        directive();
      } else {
        begins_line_ = false;
        result_.tokens.push_back(next());
      }
    }
    return std::move(result_);
  }

 private:
  bool has(std::string_view word) const { return text_.substr(at_, word.size()) == word; }

  void step(std::size_t count = 1) {
    for (; count > 0 && at_ < text_.size(); --count, ++at_) {
      if (text_[at_] != '\n') continue;
      ++line_;
      begins_line_ = true;
    }
  }

  /// Blanks, comments and continued lines. Whether anything follows.
  bool skip_blanks(bool within_line = false) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (within_line && c == '\n') return false;
      if (has("\\\n")) {
        step(2);
      } else if (has("\\\r\n")) {
        step(3);
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        step();
      } else if (has("//")) {
        while (at_ < text_.size() && text_[at_] != '\n') step(has("\\\n") ? 2 : 1);
      } else if (has("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        step((end == text_.npos ? text_.size() : end + 2) - at_);
      } else {
        return true;
      }
    }
    return false;
  }

  Token next() {
    const std::size_t first = at_;
    Token token{.kind = Token::Kind::sign, .text = {}, .line = line_, .offset = first};
    const char c = text_[at_];
    if (begins_word(c)) {
      while (at_ < text_.size() && continues_word(text_[at_])) step();
      token.kind = Token::Kind::word;
      const bool is_prefix = at_ < text_.size() && text_[at_] == '"' && at_ - first <= 3;
      if (is_prefix && text_[at_ - 1] == 'R') {
        raw_string();
        token.kind = Token::Kind::literal;
      }
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      while (at_ < text_.size() &&
             (continues_word(text_[at_]) || text_[at_] == '.' || text_[at_] == '\'')) {
        step();
      }
      token.kind = Token::Kind::literal;
    } else if (c == '"' || c == '\'') {
      quoted(c);
      token.kind = Token::Kind::literal;
    } else {
      constexpr std::array<std::string_view, 4> kLong{"::", "->", "++", "--"};
      const auto known =
          std::find_if(kLong.begin(), kLong.end(), [&](std::string_view s) { return has(s); });
      step(known != kLong.end() ? 2 : 1);
    }
    token.text = text_.substr(first, at_ - first);
    return token;
  }

  void quoted(char quote) {
    step();
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      step(text_[at_] == '\\' ? 2 : 1);
    }
    step();
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == text_.npos) return step(text_.size() - at_);
    std::string close(1, ')');
    close += text_.substr(at_ + 1, open - at_ - 1);
    close += '"';
    const std::size_t end = text_.find(close, open);
    step((end == text_.npos ? text_.size() : end + close.size()) - at_);
  }

  void directive() {
    step();
    std::vector<Token> words;
    bool touches = false;  // the parenthesis behind a macro's name
    while (skip_blanks(true)) {
      const std::size_t before = at_;
      words.push_back(next());
      if (words.size() == 3) touches = before == end_of_name_;
      if (words.size() == 2) end_of_name_ = at_;
    }
    begins_line_ = true;
    if (words.empty()) return;
    if (words[0].text == "line" || words[0].kind == Token::Kind::literal) {
      result_.renumbers_lines = true;
    }
    if (words.size() < 2) return;
    if (words[0].text == "include" && words[1].text.size() > 2 && words[1].text[0] == '"') {
      result_.includes.push_back(words[1].text.substr(1, words[1].text.size() - 2));
    }
    if (words[0].text == "define") define(words, touches);
  }

  void define(const std::vector<Token>& words, bool touches) {
    Macro macro;
    std::size_t body = 2;
    if (touches && words.size() > 2 && words[2].text == "(") {
      for (body = 3; body < words.size() && words[body].text != ")"; ++body) {
        if (words[body].kind == Token::Kind::word) macro.parameters.push_back(words[body].text);
      }
      ++body;
    }
    const auto first = static_cast<std::ptrdiff_t>(std::min(body, words.size()));
    macro.body.assign(words.begin() + first, words.end());
    // Of several definitions all may be the one that counts.
    Macro& known = result_.macros[words[1].text];
    known.parameters.insert(known.parameters.end(), macro.parameters.begin(),
                            macro.parameters.end());
    known.body.insert(known.body.end(), macro.body.begin(), macro.body.end());
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t end_of_name_ = 0;
  std::uint32_t line_ = 1;
  bool begins_line_ = true;
  SourceTokens result_;
};

}  // namespace

SourceTokens tokens_of(std::string_view text) { return Lexer(text).run(); }

std::size_t behind_closing(const std::vector<Token>& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const std::string& text = tokens[i].text;
    if (text == "(" || text == "[" || text == "{") ++depth;
    if (text == ")" || text == "]" || text == "}") --depth;
    if (depth == 0) return i + 1;
  }
  return tokens.size();
}

}  // namespace simgpu
