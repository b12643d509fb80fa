#include "simgpu/replay/assignments.h"

#include <algorithm>
#include <array>

#include "simgpu/replay/declarations.h"

namespace simgpu::replay {
namespace {

template <std::size_t kCount>
bool is_one_of(const std::array<std::string_view, kCount>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool ends_statement(const Token& token) {
  return token.text == ";" || token.text == "{" || token.text == "}";
}

/// Words before a name that do not declare it.
constexpr std::array<std::string_view, 8> kNoType{"return", "else",  "case",   "goto",
                                                  "do",     "throw", "delete", "new"};

/// Functions whose instructions are those of the line that calls them.
bool is_built_in(std::string_view name) {
  constexpr std::array<std::string_view, 22> kFunctions{
      "min",   "max",   "fminf", "fmaxf",  "fmaf",     "fma",        "expf",  "exp2f",
      "exp",   "logf",  "log2f", "sqrtf",  "sqrt",     "rsqrtf",     "fabsf", "abs",
      "tanhf", "float", "int",   "double", "unsigned", "static_cast"};
  return name.starts_with("__") || is_one_of(kFunctions, name);
}

}  // namespace

Assignments::Assignments(SourceTokens source) : source_(std::move(source)) {}

Assignments::Range Assignments::tokens_of_line(std::uint32_t line) const {
  const auto at = [&](std::uint32_t number) {
    const auto found = std::ranges::lower_bound(tokens(), number, {}, &Token::line);
    return static_cast<std::size_t>(found - tokens().begin());
  };
  return {at(line), at(line + 1)};
}

/// Of a bracket the token behind the one that closes it.
std::size_t Assignments::closing(std::size_t open) const {
  int depth = 0;
  for (std::size_t i = open; i < tokens().size(); ++i) {
    const std::string& text = tokens()[i].text;
    if (text == "(" || text == "[" || text == "{") ++depth;
    if (text == ")" || text == "]" || text == "}") --depth;
    if (depth == 0) return i + 1;
  }
  return tokens().size();
}

Assignments::Context Assignments::context_at(std::size_t token) const {
  Context context;
  bool is_in_function = false;
  int depth_here = 0;
  constexpr int kDeepest = 64;
  for (std::size_t i = 0; i < token; ++i) {
    if (tokens()[i].text != "{") continue;
    const std::size_t end = closing(i);
    if (end <= token) {
      i = end - 1;
      continue;
    }
    if (++depth_here > kDeepest) return {};
    // What the braces belong to: the word before the parentheses before them.
    std::string before = i > 0 ? tokens()[i - 1].text : "";
    if (before == ")") {
      int depth = 0;
      std::size_t k = i - 1;
      for (; k > 0; --k) {
        depth += tokens()[k].text == ")" ? 1 : tokens()[k].text == "(" ? -1 : 0;
        if (depth == 0) break;
      }
      before = k > 0 ? tokens()[k - 1].text : "";
      // A function, or a lambda within one.
      const bool is_statement = before == "if" || before == "for" || before == "while" ||
                                before == "switch" || before == "constexpr";
      if (!is_in_function && !is_statement) {
        is_in_function = true;
        context.function_first = k;
        context.function_end = end;
        continue;
      }
    }
    if (!is_in_function) continue;
    if (before == "for" || before == "while" || before == "do") {
      context.loop_first = i;
      context.loop_end = end;
    } else if (i > 0 && tokens()[i - 1].text != ";" && tokens()[i - 1].text != "{" &&
               tokens()[i - 1].text != "}") {
      context.is_conditional = true;  // an if, an else, a switch, or what is not known
    }
  }
  return context;
}

/// Whether a value is assigned by the sign at `token`, alone or behind an operator.
bool Assignments::is_assignment(std::size_t token) const {
  if (tokens()[token].text != "=") return false;
  const bool compares =
      (token + 1 < tokens().size() && tokens()[token + 1].text == "=") ||
      (token > 0 && (tokens()[token - 1].text == "=" || tokens()[token - 1].text == "!"));
  if (compares) return false;
  // a <= b and a >= b compare; a <<= b does not.
  const bool is_angle =
      token > 0 && (tokens()[token - 1].text == "<" || tokens()[token - 1].text == ">");
  return !is_angle || (token > 1 && tokens()[token - 2].text == tokens()[token - 1].text);
}

/// Whether the parentheses around a token are of a call that may change its arguments.
bool Assignments::may_take_reference(std::size_t token) const {
  int depth = 1;
  std::size_t open = token;
  while (open > 0 && depth > 0) {
    --open;
    const std::string& text = tokens()[open].text;
    if (ends_statement(tokens()[open]) && text != ";") return true;
    depth += text == ")" ? 1 : text == "(" ? -1 : 0;
  }
  if (open == 0) return true;
  constexpr std::array<std::string_view, 5> kStatements{"if", "while", "for", "switch", "return"};
  std::size_t name = open - 1;
  if (tokens()[name].text == ">") {  // static_cast<float>(x)
    while (name > 0 && tokens()[name].text != "<") --name;
    if (name == 0) return true;
    --name;
    if (tokens()[name].text == "reinterpret_cast") return false;
  }
  const std::string& called = tokens()[name].text;
  const bool is_call = is_word(tokens()[name]);
  return is_call && !is_built_in(called) && !is_one_of(kStatements, called);
}

std::set<std::string> Assignments::changed_by(Range range) const {
  std::set<std::string> changed;
  for (std::size_t i = range.first; i < range.second; ++i) {
    if (!is_word(tokens()[i])) continue;
    const std::string before = i > 0 ? tokens()[i - 1].text : "";
    std::size_t next = i + 1;
    while (next < tokens().size() && tokens()[next].text == "[") next = closing(next);
    const std::string after = next < tokens().size() ? tokens()[next].text : "";
    bool is_assigned = after == "=" && is_assignment(next);
    constexpr std::string_view kOperators = "+-*/%&|^<>";
    if (after.size() == 1 && kOperators.find(after[0]) != std::string_view::npos) {
      const std::size_t sign = next + (after == "<" || after == ">" ? 2 : 1);
      is_assigned = sign < tokens().size() && is_assignment(sign);
    }
    const bool is_counted = before == "++" || before == "--" || after == "++" || after == "--";
    // A function may take a reference.
    const bool is_argument = (before == "(" || before == ",") && (after == ")" || after == ",");
    const bool is_handed_on = is_argument && may_take_reference(i);
    if (is_assigned || is_counted || before == "&" || is_handed_on) {
      changed.insert(tokens()[i].text);
    }
  }
  return changed;
}

/// Whether the lanes that execute a statement compute its value on its line, in one go.
bool Assignments::is_plain(Range expression) const {
  for (std::size_t i = expression.first; i < expression.second; ++i) {
    const Token& token = tokens()[i];
    const std::string& text = token.text;
    const bool is_twice = i + 1 < expression.second && tokens()[i + 1].text == text;
    if (text == "?" || text == "{" || text == "++" || text == "--" || is_assignment(i))
      return false;
    if ((text == "&" || text == "|") && is_twice) return false;
    if (!is_word(token)) continue;
    const auto macro = source_.macros.find(text);
    if (macro != source_.macros.end() && macro->second.body.size() != 1) return false;
    const bool is_call = i + 1 < expression.second && tokens()[i + 1].text == "(";
    if (is_call && !is_built_in(text)) return false;
  }
  return true;
}

/// The type of a variable that is declared once in its function, and is no array; empty otherwise.
std::string Assignments::declared_type(const std::string& name, const Context& context) const {
  std::string type;
  int declarations = 0;
  for (std::size_t i = context.function_first + 1; i < context.function_end; ++i) {
    if (tokens()[i].text != name) continue;
    const Token& before = tokens()[i - 1];
    const bool behind_type = (is_word(before) && !is_one_of(kNoType, before.text)) ||
                             before.text == ">" || before.text == "*" || before.text == "&";
    constexpr std::size_t kLongestType = 12;  // tokens
    std::size_t first = i;
    while (first > context.function_first && i - first < kLongestType &&
           !ends_statement(tokens()[first - 1]) && tokens()[first - 1].text != "(" &&
           tokens()[first - 1].text != ",") {
      --first;
    }
    const std::string found = plain_type(tokens(), first, i);
    const bool is_in_list = before.text == ",";
    if (!behind_type && !is_in_list) continue;
    // A sum `a * b` looks like the declaration of a pointer, but has no type before it.
    if (found.empty() && (before.text == "*" || before.text == ">" || before.text == "&")) continue;
    if (is_in_list && found.empty()) continue;
    ++declarations;
    const bool is_array = i + 1 < tokens().size() && tokens()[i + 1].text == "[";
    type = is_array ? "" : found;
  }
  return declarations == 1 ? type : "";
}

/// Whether a loop's body may be left before a statement of it.
bool Assignments::leaves_early(const Context& context) const {
  for (std::size_t i = context.loop_first; i < context.loop_end; ++i) {
    const std::string& text = tokens()[i].text;
    if (text == "continue" || text == "break" || text == "goto" || text == "return") return true;
  }
  return false;
}

void Assignments::read_statement(Range statement, LineEffects& effects) const {
  const auto [first, end] = statement;
  const Context context = context_at(first);
  if (context.function_first == context.function_end) return;
  std::size_t sign = first;
  while (sign < end && !is_assignment(sign)) ++sign;
  if (sign == end || sign == first) return;
  constexpr std::string_view kOperators = "+-*/";
  const std::string& before = tokens()[sign - 1].text;
  const bool adds = before.size() == 1 && kOperators.find(before[0]) != std::string_view::npos;
  const std::size_t name = sign - (adds ? 2 : 1);
  if (name < first || name >= end || !is_word(tokens()[name])) return;
  if (!is_plain({sign + 1, end})) return;
  const std::string type = declared_type(tokens()[name].text, context);
  const bool is_scalar = !type.empty() && type.back() != '*' && bytes_of_type(type) >= 4;
  if (!is_scalar) return;
  const bool is_declared = name > first;
  if (is_declared && (adds || plain_type(tokens(), first, name) != type)) return;
  // A compiler may compute such a statement for all lanes, and drop it for those outside.
  if (!is_declared && (context.is_conditional || leaves_early(context))) return;
  if (!adds && context.is_in_loop()) {
    std::size_t loads = 0;
    for (std::size_t i = sign; i < end; ++i) {
      const bool begins = tokens()[i].text == "[" && tokens()[i - 1].text != "]";
      loads += begins ? 1 : 0;
    }
    if (loads == 0 && (type == "float" || type == "double")) return;
    effects.loads = loads;
  }
  const bool is_integer = type != "float" && type != "double";
  if (is_integer && adds) return;
  if (is_integer) {
    effects.expression.assign(tokens().begin() + static_cast<std::ptrdiff_t>(sign) + 1,
                              tokens().begin() + static_cast<std::ptrdiff_t>(end));
  }
  effects.is_set_once = is_declared && !context.is_in_loop();
  effects.assigned = tokens()[name].text;
  effects.type = type;
}

LineEffects Assignments::of_line(std::uint32_t line) const {
  LineEffects effects;
  const Range range = tokens_of_line(line);
  if (range.first == range.second) return effects;
  // Statements that begin or end on other lines change what they change on each of them.
  Range whole = range;
  while (whole.first > 0 && !ends_statement(tokens()[whole.first - 1])) --whole.first;
  while (whole.second < tokens().size() && !ends_statement(tokens()[whole.second - 1])) {
    ++whole.second;
  }
  effects.changed = changed_by(whole);
  const auto semicolons =
      std::count_if(tokens().begin() + static_cast<long>(range.first),
                    tokens().begin() + static_cast<long>(range.second), ends_statement);
  const bool is_one_statement =
      whole == range && semicolons == 1 && tokens()[range.second - 1].text == ";";
  if (is_one_statement) read_statement({range.first, range.second - 1}, effects);
  return effects;
}

}  // namespace simgpu::replay
