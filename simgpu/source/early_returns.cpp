#include "simgpu/source/early_returns.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "simgpu/source/array_elements.h"
#include "simgpu/source/tokens.h"
#include "simgpu/source/unwritten_variables.h"

namespace simgpu {
namespace {

using Tokens = std::vector<Token>;
using Kind = Token::Kind;

constexpr std::array<std::string_view, 10> kLeaves{
    "return", "goto", "asm", "__asm__", "__asm", "throw", "exit", "abort", "__trap", "co_return"};

/// Words that may begin a statement, and never hide a return.
constexpr std::array<std::string_view, 40> kHarmless{
    "alignas", "auto",      "bool",     "break",  "case",     "char",          "const",  "continue",
    "default", "do",        "double",   "else",   "float",    "for",           "if",     "int",
    "long",    "register",  "short",    "signed", "static",   "static_assert", "struct", "switch",
    "this",    "typedef",   "typename", "union",  "unsigned", "using",         "void",   "volatile",
    "while",   "constexpr", "extern",   "delete", "new",      "sizeof",        "half",   "size_t"};
/// Functions of CUDA that programs call for their effect.
constexpr std::array<std::string_view, 4> kFunctions{"printf", "assert", "memcpy", "memset"};

template <typename List>
bool contains(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != std::ranges::end(list);
}

/// Whether a name looks as macros do.
bool is_upper_case(const std::string& name) {
  return std::ranges::none_of(name, [](unsigned char c) { return std::islower(c) != 0; });
}

/// A file with what it includes from beside it.
class Source {
 public:
  Source(const std::string& file, const SourceText& text) { read(file, text, 0); }

  bool readable() const { return readable_; }
  const Tokens& tokens() const { return own_; }
  bool declares(const std::string& word) const { return declared_.contains(word); }
  const Macro* macro(const std::string& word) const {
    const auto found = macros_.find(word);
    return found == macros_.end() ? nullptr : &found->second;
  }

 private:
  void read(const std::string& file, const SourceText& text, int depth) {
    constexpr int kDeepest = 4;
    const std::optional<std::string> content = text(file);
    if (!content) return;
    SourceTokens source = tokens_of(*content);
    for (auto& [name, macro] : source.macros) macros_.insert({name, std::move(macro)});
    note_declared(source.tokens);
    if (depth == 0) {
      readable_ = !source.renumbers_lines && !source.tokens.empty();
      own_ = std::move(source.tokens);
    }
    const std::string folder = file.substr(0, file.rfind('/') + 1);
    for (const std::string& name : source.includes) {
      if (depth < kDeepest) read(folder + name, text, depth + 1);
    }
  }

  /// A word behind a type: `int v`, `Tile* tile`, `typename T`.
  void note_declared(const Tokens& tokens) {
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      const Token& before = tokens[i - 1];
      if (tokens[i].kind != Kind::word) continue;
      const bool is_type = before.kind == Kind::word && !contains(kLeaves, before.text) &&
                           before.text != "else" && before.text != "do" && before.text != "case";
      const bool ends_type = before.text == "*" || before.text == "&" || before.text == ">";
      if (is_type || ends_type) declared_.insert(tokens[i].text);
    }
  }

  bool readable_ = false;
  Tokens own_;
  std::map<std::string, Macro> macros_;
  std::set<std::string> declared_;
};

/// Looks for what may leave a function.
class Search {
 public:
  explicit Search(const Source& source) : source_(source) {}

  bool leaves(const Tokens& tokens, std::size_t first, std::size_t last,
              const std::vector<std::string>& parameters = {}) {
    for (std::size_t i = first; i < last; ++i) {
      if (tokens[i].kind == Kind::word && word_leaves(tokens, i, parameters)) return true;
    }
    return false;
  }

 private:
  bool word_leaves(const Tokens& tokens, std::size_t i,
                   const std::vector<std::string>& parameters) {
    const std::string& word = tokens[i].text;
    if (contains(kLeaves, word)) return true;
    if (const Macro* macro = source_.macro(word)) {
      return seen_.insert(word).second &&
             leaves(macro->body, 0, macro->body.size(), macro->parameters);
    }
    const std::string_view before = i > 0 ? std::string_view(tokens[i - 1].text) : "";
    const std::string_view after =
        i + 1 < tokens.size() ? std::string_view(tokens[i + 1].text) : "";
    if (before == "." || before == "->" || before == "::" || after == "::") return false;
    if (word.starts_with("__") || word.starts_with("atomic") || contains(kHarmless, word) ||
        contains(kFunctions, word) || contains(parameters, word) || source_.declares(word)) {
      return false;
    }
    const bool begins_statement = before.empty() || contains(kBefore, before);
    if (!begins_statement) return after == "(" && is_upper_case(word);
    return !contains(kVariables, after);
  }

  /// What stands before a statement, and behind a variable with which one begins.
  static constexpr std::array<std::string_view, 7> kBefore{";", "{", "}", ")", "else", "do", ":"};
  static constexpr std::array<std::string_view, 17> kVariables{
      "=", "[", ".", "->", "++", "--", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", ")"};

  const Source& source_;
  std::set<std::string> seen_;
};

std::size_t behind_group(const Tokens& tokens, std::size_t i, std::string_view open,
                         std::string_view close) {
  for (std::size_t depth = 0; i < tokens.size(); ++i) {
    if (tokens[i].text == open) ++depth;
    if (tokens[i].text == close && --depth == 0) return i + 1;
  }
  return tokens.size();
}

/// Behind the statement that begins at `i`; of an `if`, behind its `else` too.
std::size_t behind_statement(const Tokens& tokens, std::size_t i) {
  std::size_t depth = 0;
  for (; i < tokens.size(); ++i) {
    const std::string& text = tokens[i].text;
    if (text == "(" || text == "{" || text == "[") ++depth;
    if (text == ")" || text == "}" || text == "]") {
      if (depth == 0) return i;
      --depth;
    }
    if (depth > 0 || (text != ";" && text != "}")) continue;
    const std::string_view next = i + 1 < tokens.size() ? std::string_view(tokens[i + 1].text) : "";
    if (next != "else" && next != "while") return i + 1;
  }
  return tokens.size();
}

/// Whether the brace at `i` opens a scope around functions.
bool opens_namespace_or_class(const Tokens& tokens, std::size_t i) {
  constexpr std::array<std::string_view, 6> kScopes{"namespace", "class", "struct",
                                                    "union",     "enum",  "extern"};
  bool is_scope = false;
  while (i-- > 0) {
    const std::string& text = tokens[i].text;
    if (text == ";" || text == "{" || text == "}") break;
    if (text == "(") return false;
    is_scope = is_scope || contains(kScopes, text);
  }
  return is_scope;
}

/// Whether the brace at `i` opens a function's body: it stands behind parameters that stand behind
/// a name. Braces that #if and #else have twice may make a block look like one.
bool opens_function(const Tokens& tokens, std::size_t i) {
  constexpr std::array<std::string_view, 5> kBlocks{"if", "for", "while", "switch", "catch"};
  while (i > 0 && contains(std::array{"const", "noexcept"}, tokens[i - 1].text)) --i;
  if (i == 0 || tokens[i - 1].text != ")") return false;
  for (std::size_t depth = 0; i-- > 0;) {
    if (tokens[i].text == ")") ++depth;
    if (tokens[i].text == "(" && --depth == 0) break;
  }
  return i > 0 && i < tokens.size() && tokens[i - 1].kind == Kind::word &&
         !contains(kBlocks, tokens[i - 1].text);
}

/// Where the outermost function begins that the token is in; tokens.size() when it is in none.
std::size_t function_around(const Tokens& tokens, std::size_t place) {
  std::vector<std::pair<std::size_t, bool>> open;  // braces, and whether they open a scope
  for (std::size_t i = 0; i < place; ++i) {
    if (tokens[i].text == "{") open.emplace_back(i, opens_namespace_or_class(tokens, i));
    if (tokens[i].text == "}" && !open.empty()) open.pop_back();
  }
  const auto body = std::ranges::find(open, false, &std::pair<std::size_t, bool>::second);
  if (body == open.end() || !opens_function(tokens, body->first)) return tokens.size();
  return body->first + 1;
}

/// Behind the outermost loop of the function that the statement is in: threads that have left the
/// loop behind it in one round are missing in the next.
std::size_t behind_loops(const Tokens& tokens, std::size_t function, std::size_t first,
                         std::size_t last) {
  std::size_t end = last;
  for (std::size_t i = function; i < last; ++i) {
    const std::string& word = tokens[i].text;
    if (word != "for" && word != "while" && word != "do") continue;
    const std::size_t body = word == "do" ? i + 1 : behind_group(tokens, i, "(", ")");
    const std::size_t behind = behind_statement(tokens, body);
    if (behind > first) end = std::max(end, behind);
  }
  return end;
}

bool may_leave_before(const std::string& file, std::uint32_t line, const SourceText& text) {
  const Source source(file, text);
  if (!source.readable() || line == 0) return true;
  const Tokens& tokens = source.tokens();
  const auto at_line = [&](std::uint32_t number) {
    const auto found = std::ranges::lower_bound(tokens, number, {}, &Token::line);
    return static_cast<std::size_t>(found - tokens.begin());
  };
  const std::size_t first_here = at_line(line);
  const std::size_t last = at_line(line + 1);
  if (first_here == last) return true;
  std::size_t first = first_here;
  while (first > 0 && !contains(std::array{";", "{", "}"}, tokens[first - 1].text)) --first;
  const std::size_t function = function_around(tokens, first_here);
  if (function > first) return true;
  Search search(source);
  // The operation's own statement may return what it gives.
  const bool returns_it = tokens[first].text == "return" && behind_statement(tokens, first) >= last;
  return search.leaves(tokens, function, first) ||
         search.leaves(tokens, returns_it ? first + 1 : first,
                       behind_loops(tokens, function, first, last));
}

}  // namespace

bool may_leave_before(const AccessSite& site, const SourceText& text) {
  return may_leave_before(site.file, site.line, text) ||
         std::ranges::any_of(site.inlined_at, [&](const InlinedCall& call) {
           return may_leave_before(call.file, call.line, text);
         });
}

namespace {

/// The line of a `return` in the body of the `if` that begins at a line; 0 where there is none.
std::uint32_t line_of_return(const std::string& file, std::uint32_t line, const SourceText& text) {
  const Source source(file, text);
  if (!source.readable()) return 0;
  const Tokens& tokens = source.tokens();
  const auto first = std::ranges::find_if(
      tokens, [&](const Token& token) { return token.line == line && token.text == "if"; });
  if (first == tokens.end()) return 0;
  const auto at = static_cast<std::size_t>(first - tokens.begin());
  const std::size_t body = behind_group(tokens, at + 1, "(", ")");
  if (body >= tokens.size()) return 0;
  const auto ends = [](const Token& token) { return token.text == ";" || token.text == "}"; };
  const auto semicolon =
      std::find_if(tokens.begin() + static_cast<std::ptrdiff_t>(body), tokens.end(), ends);
  const std::size_t end = tokens[body].text == "{"
                              ? behind_group(tokens, body, "{", "}")
                              : static_cast<std::size_t>(semicolon - tokens.begin());
  const auto is_return = [](const Token& token) { return token.text == "return"; };
  const auto last = tokens.begin() + static_cast<std::ptrdiff_t>(end);
  const auto found =
      std::find_if(tokens.begin() + static_cast<std::ptrdiff_t>(body), last, is_return);
  return found == last ? 0 : found->line;
}

/// Where threads of a warp part by an `if` that returns, the `return` is what keeps them away.
void name_returns(Finding& finding, const SourceText& text) {
  if (finding.code != "RL0305") return;
  // A lane that has returned set out for it at the branch that `other` has.
  if (finding.detail == FindingDetail::returned_lane && finding.other) {
    const AccessSite& left = *finding.other;
    const std::uint32_t line = line_of_return(left.file, left.line, text);
    if (line != 0 && line != left.line)
      finding.also.push_back({left.file, line, "it returns here"});
  }
  for (std::size_t i = 0; i < finding.also.size(); ++i) {
    const SourceNote branch = finding.also[i];
    const std::uint32_t line = line_of_return(branch.file, branch.line, text);
    if (line == 0) continue;
    const SourceNote note{branch.file, line, "threads that return here do not come there"};
    finding.returns_early = true;
    if (line == branch.line) {
      finding.also[i] = note;
    } else {
      finding.also.insert(finding.also.begin() + static_cast<std::ptrdiff_t>(++i), note);
    }
  }
}

}  // namespace

void settle_by_source(std::vector<Finding>& findings, const SourceText& text) {
  std::erase_if(findings, [&](const Finding& finding) {
    return finding.unless_returned && may_leave_before(finding.where, text);
  });
  // That lanes went another way is also why values of theirs are missing at the same place.
  const std::vector<Finding> known = findings;
  std::erase_if(findings, [&](const Finding& finding) {
    return !finding.unless_returned && std::ranges::any_of(known, [&](const Finding& cause) {
      return cause.unless_returned && cause.code == finding.code &&
             cause.kernel == finding.kernel && cause.where.file == finding.where.file &&
             cause.where.line == finding.where.line && cause.where.column == finding.where.column;
    });
  });
  for (Finding& finding : findings) {
    finding.unless_returned = false;
    name_returns(finding, text);
  }
  name_unwritten_variables(findings, text);
  name_array_elements(findings, text);
}

}  // namespace simgpu
