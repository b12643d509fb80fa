#include "simgpu/source/unwritten_variables.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "simgpu/source/tokens.h"

namespace simgpu {
namespace {

/// A variable that its declaration gives no value.
struct BareDeclaration {
  std::string name;
  std::uint32_t line = 0;
  bool assigned = false;  ///< something is assigned to it before the statement
};

bool is_word(const Token& token) { return token.kind == Token::Kind::word; }

bool ends_statement(const Token& token) {
  return token.text == ";" || token.text == "{" || token.text == "}";
}

template <std::size_t kCount>
bool is_one_of(const std::array<std::string_view, kCount>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// Statements that declare no variable of a thread's own.
constexpr std::array<std::string_view, 16> kNoDeclarations{
    "return",     "goto",   "template", "using", "typedef",    "extern",       "static", "delete",
    "__shared__", "struct", "class",    "union", "__device__", "__constant__", "throw",  "break"};

class Declarations {
 public:
  explicit Declarations(const std::vector<Token>& tokens) : tokens_(tokens) {}

  /// Variables of the statement at a line that are declared without a value before it.
  std::vector<BareDeclaration> used_at(std::uint32_t line) const {
    const auto [first, last] = statement_at(line);
    std::vector<BareDeclaration> found;
    for (std::size_t i = first; i < last; ++i) {
      const std::string& name = tokens_[i].text;
      const bool is_member = i > 0 && (tokens_[i - 1].text == "." || tokens_[i - 1].text == "->" ||
                                       tokens_[i - 1].text == "::");
      const bool is_known = std::ranges::any_of(
          found, [&](const BareDeclaration& other) { return other.name == name; });
      if (!is_word(tokens_[i]) || is_member || is_known) continue;
      const std::size_t at = declaration_of(name, i);
      if (at == tokens_.size()) continue;
      found.push_back({name, tokens_[at].line, is_assigned(name, at + 1, first)});
    }
    return found;
  }

 private:
  /// The tokens of the statements that are, in part, at a line.
  std::pair<std::size_t, std::size_t> statement_at(std::uint32_t line) const {
    const auto at_line = [&](std::uint32_t number) {
      const auto found = std::ranges::lower_bound(tokens_, number, {}, &Token::line);
      return static_cast<std::size_t>(found - tokens_.begin());
    };
    std::size_t first = at_line(line), last = at_line(line + 1);
    if (first == last) return {0, 0};
    while (first > 0 && !ends_statement(tokens_[first - 1])) --first;
    while (last < tokens_.size() && !ends_statement(tokens_[last - 1])) ++last;
    return {first, last};
  }

  /// The nearest declaration of `name` before token `place`; tokens_.size() when that has a value,
  /// or there is none.
  std::size_t declaration_of(std::string_view name, std::size_t place) const {
    for (std::size_t i = place; i-- > 1;) {
      if (tokens_[i].text != name) continue;
      const Declared declared = declared_at(i);
      if (declared == Declared::with_value) return tokens_.size();
      if (declared == Declared::bare) return i;
    }
    return tokens_.size();
  }

  enum class Declared : std::uint8_t { no, bare, with_value };

  /// Whether a word is declared where it stands: behind a type, or in a list of variables.
  Declared declared_at(std::size_t at) const {
    std::size_t first = at;
    std::ptrdiff_t depth = 0;
    while (first > 0 && !ends_statement(tokens_[first - 1])) {
      const std::string& text = tokens_[--first].text;
      depth += static_cast<std::ptrdiff_t>(text == ")") - static_cast<std::ptrdiff_t>(text == "(");
    }
    if (!is_word(tokens_[first]) || first == at ||
        is_one_of(kNoDeclarations, tokens_[first].text)) {
      return Declared::no;
    }
    const Token& before = tokens_[at - 1];
    const bool behind_type = (is_word(before) && before.text != "else" && before.text != "do") ||
                             before.text == ">" || before.text == "*" || before.text == "&";
    const bool in_list = before.text == "," && first + 1 < at && is_word(tokens_[first + 1]);
    if (!behind_type && !in_list) return Declared::no;
    std::size_t next = at + 1;
    while (next < tokens_.size() && tokens_[next].text == "[") next = behind_bracket(next);
    if (next == tokens_.size()) return Declared::no;
    const std::string& after = tokens_[next].text;
    // Parameters and the variables of a loop are in parentheses, and have a value.
    if (depth != 0) return behind_type ? Declared::with_value : Declared::no;
    if (after == ";" || after == ",") return Declared::bare;
    return behind_type && (after == "=" || after == "{" || after == "(" || after == ":")
               ? Declared::with_value
               : Declared::no;
  }

  std::size_t behind_bracket(std::size_t at) const {
    while (at < tokens_.size() && tokens_[at].text != "]") ++at;
    return std::min(at + 1, tokens_.size());
  }

  bool is_assigned(std::string_view name, std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i) {
      if (tokens_[i].text != name) continue;
      std::size_t next = i + 1;
      while (next < last && tokens_[next].text == "[") next = behind_bracket(next);
      const bool compares = next + 1 < last && tokens_[next + 1].text == "=";
      if (next < last && tokens_[next].text == "=" && !compares) return true;
    }
    return false;
  }

  const std::vector<Token>& tokens_;
};

std::vector<BareDeclaration> candidates_at(const std::string& file, std::uint32_t line,
                                           const SourceText& text) {
  const std::optional<std::string> content = text(file);
  if (!content || line == 0) return {};
  const SourceTokens source = tokens_of(*content);
  if (source.renumbers_lines) return {};
  std::vector<BareDeclaration> found = Declarations(source.tokens).used_at(line);
  if (!std::ranges::all_of(found, &BareDeclaration::assigned)) {
    std::erase_if(found, [](const BareDeclaration& declared) { return declared.assigned; });
  }
  return found;
}

void name_variable(Finding& finding, const std::vector<BareDeclaration>& candidates) {
  std::string names, places;
  for (const BareDeclaration& declared : candidates) {
    const char* const between = names.empty() ? "" : " or ";
    names += between + declared.name;
    places += between + std::to_string(declared.line);
  }
  finding.object = "variable " + names + ", declared without a value in line " + places;
  finding.message = "A thread uses " + names +
                    " before it has given it a value: what the variable holds is undefined";
}

}  // namespace

void name_unwritten_variables(std::vector<Finding>& findings, const SourceText& text) {
  constexpr std::size_t kMostNames = 3;
  for (Finding& finding : findings) {
    if (finding.code != "RL0211") continue;
    std::vector<BareDeclaration> found =
        candidates_at(finding.where.file, finding.where.line, text);
    for (const InlinedCall& call : finding.where.inlined_at) {
      if (found.empty()) found = candidates_at(call.file, call.line, text);
    }
    if (!found.empty() && found.size() <= kMostNames) name_variable(finding, found);
  }
}

}  // namespace simgpu
