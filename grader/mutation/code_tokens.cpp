#include "grader/mutation/code_tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "simgpu/source/tokens.h"

namespace rooflab::mutation {
namespace {

/// Operators of more than one sign, the longest first.
constexpr std::array<std::string_view, 24> kSignsOfOperators{
    "<<<", ">>>", "<<=", ">>=", "...", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "<<", "->", "::", "++", "--"};

CodeToken::Kind kind_of(const simgpu::Token& token) {
  switch (token.kind) {
    case simgpu::Token::Kind::word:
      return CodeToken::Kind::word;
    case simgpu::Token::Kind::literal:
      return std::isdigit(static_cast<unsigned char>(token.text.front())) != 0
                 ? CodeToken::Kind::number
                 : CodeToken::Kind::text;
    case simgpu::Token::Kind::sign:
      break;
  }
  return CodeToken::Kind::sign;
}

/// "1e" of "1e-5f"
bool ends_in_exponent(const CodeToken& number) {
  const char last = number.text.back();
  return (last == 'e' || last == 'E') && !number.text.starts_with("0x") &&
         !number.text.starts_with("0X");
}

/// Puts together what is one token of C++: operators, and numbers with a point or an exponent.
class Joiner {
 public:
  explicit Joiner(const std::vector<simgpu::Token>& tokens) : tokens_(tokens) {}

  std::vector<CodeToken> run() {
    std::vector<CodeToken> joined;
    while (at_ < tokens_.size()) joined.push_back(next());
    return joined;
  }

 private:
  bool touches(std::size_t index) const {
    return index < tokens_.size() &&
           tokens_[index].offset == tokens_[index - 1].offset + tokens_[index - 1].text.size();
  }
  bool is_number(std::size_t index) const {
    return index < tokens_.size() && kind_of(tokens_[index]) == CodeToken::Kind::number;
  }
  void append(CodeToken& token) { token.text += tokens_[at_++].text; }

  CodeToken next() {
    const simgpu::Token& first = tokens_[at_];
    CodeToken token{kind_of(first), first.text, first.offset, first.line};
    ++at_;
    if (token.is(".") && is_number(at_) && touches(at_)) {
      token.kind = CodeToken::Kind::number;
      append(token);
    }
    if (token.kind == CodeToken::Kind::number && ends_in_exponent(token) &&
        at_ + 1 < tokens_.size() && is_number(at_ + 1)) {
      append(token);
      append(token);
    }
    if (token.kind == CodeToken::Kind::sign) lengthen(token);
    return token;
  }

  /// With the signs behind it, if they make a longer operator.
  void lengthen(CodeToken& token) {
    std::string longest = token.text;
    std::size_t end = at_;
    while (touches(end) && longest.size() < 3 && kind_of(tokens_[end]) == CodeToken::Kind::sign) {
      longest += tokens_[end++].text;
    }
    for (const std::string_view known : kSignsOfOperators) {
      if (!longest.starts_with(known) || known.size() <= token.text.size()) continue;
      while (token.text.size() < known.size()) append(token);
      return;
    }
  }

  const std::vector<simgpu::Token>& tokens_;
  std::size_t at_ = 0;
};

}  // namespace

Code::Code(std::string text) : text_(std::move(text)) {
  const simgpu::SourceTokens source = simgpu::tokens_of(text_);
  renumbers_lines_ = source.renumbers_lines;
  tokens_ = Joiner(source.tokens).run();
  find_partners();
}

const CodeToken& Code::at(std::size_t index) const {
  static const CodeToken kEnd;
  return index < tokens_.size() ? tokens_[index] : kEnd;
}

std::uint32_t Code::column(std::size_t index) const {
  const std::size_t offset = at(index).offset;
  const std::size_t line = offset == 0 ? std::string::npos : text_.rfind('\n', offset - 1);
  return static_cast<std::uint32_t>(line == std::string::npos ? offset + 1 : offset - line);
}

std::string Code::spelling(std::size_t first, std::size_t last) const {
  std::string spelled;
  for (std::size_t i = first; i < std::min(last, size()); ++i) {
    const CodeToken& token = tokens_[i];
    const bool touches =
        i == first || tokens_[i - 1].offset + tokens_[i - 1].text.size() == token.offset;
    if (!touches) spelled += ' ';
    spelled += token.text;
  }
  return spelled;
}

void Code::find_partners() {
  partners_.assign(tokens_.size(), tokens_.size());
  around_ = partners_;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const std::string& text = tokens_[i].text;
    if (!open.empty()) around_[i] = open.back();
    if (text == "(" || text == "[" || text == "{") {
      open.push_back(i);
      depth_ = std::max(depth_, open.size());
    }
    if (text != ")" && text != "]" && text != "}") continue;
    if (open.empty()) return;  // not a program
    partners_[open.back()] = i;
    partners_[i] = open.back();
    open.pop_back();
  }
}

}  // namespace rooflab::mutation
