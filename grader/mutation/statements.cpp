#include "grader/mutation/statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "grader/mutation/variant_header.h"

namespace rooflab::mutation {
namespace {

/// Words that begin what is no statement of the program's run.
constexpr std::array<std::string_view, 11> kNotRun{"constexpr", "static_assert", "using", "typedef",
                                                   "struct",    "enum",          "asm",   "__asm__",
                                                   "extern",    "union",         "class"};
constexpr std::array<std::string_view, 9> kQualifiers{"const",    "static",     "volatile",
                                                      "unsigned", "signed",     "register",
                                                      "typename", "__shared__", "struct"};
constexpr std::array<std::string_view, 12> kNoType{"return",   "else",    "goto",  "case",
                                                   "new",      "delete",  "throw", "break",
                                                   "continue", "default", "if",    "do"};

constexpr std::array<std::string_view, 3> kBetweenFunctions{";", "{", "}"};
/// Words that end a turn of what is around them.
constexpr std::array<std::string_view, 3> kLeaves{"return", "continue", "break"};

/// Of types such as "long long int".
constexpr std::array<std::string_view, 5> kOfSeveralWords{"long", "short", "int", "char", "double"};

/// The function of variant_header.cpp for an assignment.
std::string_view function_of(const std::string& sign) {
  if (sign == "=") return "set";
  if (sign == "+=") return "add";
  if (sign == "-=") return "subtract";
  if (sign == "*=") return "multiply";
  if (sign == "/=") return "divide";
  return {};
}

std::vector<std::string_view> others_than(const std::string& sign) {
  if (sign == "=") return {"+="};
  if (sign == "+=") return {"=", "-="};
  if (sign == "-=") return {"=", "+="};
  if (sign == "*=") return {"=", "/="};
  return {"=", "*="};
}

}  // namespace

StatementMutator::StatementMutator(const Code& code, const std::vector<std::uint32_t>& skip)
    : code_(code),
      skip_(skip),
      edits_(code),
      mutants_(code),
      types_(code),
      expressions_(code, edits_, mutants_, scopes_),
      bounds_(code, edits_, mutants_, scopes_) {}

MutableSource StatementMutator::run() {
  top_level(0, code_.size());
  for (const auto& [token, text] : moved_) edits_.put_before(token, text);
  return {.text = fmt::format("#define ROOFLAB_PLACES {}\n#include \"{}\"\n#line 1\n{}",
                              mutants_.places(), kVariantHeader, edits_.text()),
          .mutants = mutants_.take()};
}

/// Namespaces, classes and functions.
void StatementMutator::top_level(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    if (code_.is(i, "(")) {
      const auto body = body_of_function(i);
      if (body) function(i, *body);
      i = body ? code_.partner(*body) : code_.partner(i);
    } else if (code_.is(i, "{")) {
      const bool is_value = i > 0 && (code_.is(i - 1, "=") || code_.is(i - 1, "]"));
      if (!is_value) top_level(i + 1, std::min(code_.partner(i), last));
      i = code_.partner(i);
    }
  }
}

/// The brace behind a parameter list that opens here.
std::optional<std::size_t> StatementMutator::body_of_function(std::size_t open) const {
  if (open == 0 || !code_.at(open - 1).is_word()) return std::nullopt;
  std::size_t i = code_.partner(open) + 1;
  while (code_.is(i, "const") || code_.is(i, "noexcept") || code_.is(i, "override")) ++i;
  if (!code_.is(i, "{") || code_.partner(i) >= code_.size()) return std::nullopt;
  return i;
}

void StatementMutator::function(std::size_t parameters, std::size_t body) {
  is_kernel_ = false;
  for (std::size_t i = parameters; i-- > 0 && !code_.at(i).is_one_of(kBetweenFunctions);) {
    is_kernel_ = is_kernel_ || code_.is(i, "__global__");
  }
  scopes_.open();
  declare_parameters(parameters);
  expressions_.note_members(body, code_.partner(body));
  expressions_.note_factors(body, code_.partner(body));
  bounds_.note_extents(body, code_.partner(body));
  block(body);
  scopes_.close();
}

void StatementMutator::declare_parameters(std::size_t open) {
  const std::size_t close = code_.partner(open);
  std::size_t first = open + 1;
  for (std::size_t i = first; i <= close; ++i) {
    if (code_.is(i, "<")) i = expressions_.behind_template_arguments(i);
    if (!code_.is(i, ",") && i != close) continue;
    std::size_t name = i;
    for (std::size_t k = first; k < i; ++k) {
      if (code_.is(k, "=") || code_.is(k, "[")) break;
      if (code_.at(k).is_word()) name = k;
    }
    std::string type;
    for (std::size_t k = first; k < name && name < i; ++k) {
      if (code_.is(k, "const") || code_.is(k, "__restrict__") || code_.is(k, "&")) continue;
      const bool is_inside = code_.is(k, "::") || (k > first && code_.is(k - 1, "::"));
      type += (type.empty() || is_inside ? "" : " ") + code_.at(k).text;
    }
    if (!type.empty()) scopes_.declare({.name = code_.at(name).text, .type = types_.resolve(type)});
    first = i + 1;
  }
}

void StatementMutator::block(std::size_t open) {
  const std::size_t close = code_.partner(open);
  scopes_.open();
  const std::size_t bounded = bounds_.mark();
  std::vector<Statement> statements;
  for (std::size_t i = open + 1; i < close;) {
    statements.push_back(statement(i, close));
    i = std::max(statements.back().behind, i + 1);
  }
  exchange_neighbours(statements);
  bounds_.forget(bounded);
  scopes_.close();
}

void StatementMutator::lambdas(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i + 2 < last; ++i) {
    const bool captures_all =
        code_.is(i, "[") && (code_.is(i + 1, "&") || code_.is(i + 1, "=")) && code_.is(i + 2, "]");
    if (!captures_all) continue;
    const std::size_t open = i + 3;
    if (!code_.is(open, "(")) continue;
    std::size_t body = code_.partner(open) + 1;
    if (code_.is(body, "mutable")) ++body;
    if (!code_.is(body, "{") || code_.partner(body) >= last) continue;
    scopes_.open();
    declare_parameters(open);
    block(body);
    scopes_.close();
    i = code_.partner(body);
  }
}

/// The next semicolon that is not inside of something.
std::size_t StatementMutator::end_of_statement(std::size_t first, std::size_t last) const {
  for (std::size_t i = first; i < last; ++i) {
    if (code_.at(i).opens()) i = code_.partner(i);
    if (code_.is(i, ";")) return i;
  }
  return last;
}

bool StatementMutator::is_left_alone(std::size_t first, std::size_t end) const {
  for (std::size_t i = first; i < end; ++i) {
    if (std::ranges::find(skip_, code_.at(i).line) != skip_.end()) return true;
  }
  return false;
}

StatementMutator::Statement StatementMutator::statement(std::size_t first, std::size_t last) {
  // Statements without braces, such as a long chain of else if, lie in each other, too.
  constexpr std::size_t kDeepest = 500;
  if (depth_ == kDeepest) return {first, end_of_statement(first, last) + 1, false};
  ++depth_;
  const Statement whole = statement_at(first, last);
  --depth_;
  return whole;
}

StatementMutator::Statement StatementMutator::statement_at(std::size_t first, std::size_t last) {
  const CodeToken& token = code_.at(first);
  if (token.is("{")) {
    block(first);
    return {first, code_.partner(first) + 1, false};
  }
  if (token.is("if") || token.is("while") || token.is("switch")) {
    return {first, branch(first, last), false};
  }
  if (token.is("for")) return {first, loop(first, last), false};
  if (token.is("do") || token.is("else")) {
    return {first, statement(first + 1, last).behind, false};
  }
  if (token.is("case") || token.is("default")) {
    std::size_t i = first;
    while (i < last && !code_.is(i, ":")) ++i;
    return {first, i + 1, false};
  }
  const std::size_t end = end_of_statement(first, last);
  const Statement whole{first, end + 1, false};
  if (token.is_one_of(kNotRun) || is_left_alone(first, end)) {
    return whole;
  }
  lambdas(first, end);
  if (token.is("return") || token.is("throw")) {
    if (token.is("return")) value(first + 1, end);
    return whole;
  }
  if (token.is(";") || token.is_one_of(kNoType)) return whole;
  if (declaration(first, end)) {
    if (scopes_.all().back().type == "bool") bounds_.note_condition(first, end);
    bound_declared(first, end);
    return whole;
  }
  const bool may_declare = token.is_word() && code_.at(first + 1).is_word();
  if (may_declare) return whole;
  return expression(first, end);
}

/// Indices of a kernel's threads may need a bound right where they are declared.
void StatementMutator::bound_declared(std::size_t first, std::size_t end) {
  if (!is_kernel_ || depth_ != 1) return;
  for (std::size_t i = first; i + 1 < end; ++i) {
    const Variable* const variable = scopes_.find(code_.at(i).text);
    if (!code_.is(i + 1, "=") || variable == nullptr || !is_whole_number(variable->type)) continue;
    bool is_of_thread = false;
    for (std::size_t k = i + 2; k < end && !code_.is(k, "="); ++k) {
      is_of_thread = is_of_thread || code_.is(k, "threadIdx") || code_.is(k, "blockIdx");
    }
    if (is_of_thread) bounds_.behind_declaration(i, end);
  }
}

/// if, while and switch.
/// @return the token behind
std::size_t StatementMutator::branch(std::size_t first, std::size_t last) {
  const bool is_constant = code_.is(first + 1, "constexpr");
  const std::size_t open = first + (is_constant ? 2 : 1);
  if (!code_.is(open, "(")) return end_of_statement(first, last) + 1;
  const std::size_t close = code_.partner(open), body = close + 1;
  const std::size_t compared = bounds_.mark();
  bounds_.note_condition(open + 1, close);
  if (!is_constant && close > open + 1 && !is_left_alone(open, close) &&
      end_of_statement(open + 1, close) == close && !code_.is(first, "switch")) {
    expressions_.mutate(open + 1, close);
    expressions_.mutate_conjuncts(open + 1, close);
    if (code_.is(first, "if")) {
      if (code_.is(body, "{")) {
        bounds_.in_condition(open + 1, close, body, code_.partner(body));
      }
      const std::string written = code_.spelling(open + 1, close);
      const int number = mutants_.add_alone(MutantKind::condition, open + 1, written, "true");
      mutants_.add(MutantKind::condition, open + 1, written, "false");
      mutants_.add(MutantKind::condition, open + 1, written, "its opposite");
      edits_.wrap(open + 1, close - 1,
                  fmt::format("rooflab_variants::condition({}, static_cast<bool>(", number), "))");
    }
  }
  std::size_t behind = statement(body, last).behind;
  const bool leaves = code_.at(code_.is(body, "{") ? body + 1 : body).is_one_of(kLeaves);
  if (!leaves) bounds_.forget(compared);
  if (code_.is(first, "if") && code_.is(behind, "else")) {
    behind = statement(behind + 1, last).behind;
  }
  return behind;
}

/// @param first the token behind a variable's name and dimensions
std::string StatementMutator::initial_value(const Code& code, std::size_t first, std::size_t last,
                                            const std::string& type) {
  if (first == last) {
    constexpr std::array<std::string_view, 4> kWithout{"*", "[", "float", "double"};
    const bool is_plain = is_whole_number(type) || std::ranges::any_of(kWithout, [&](auto part) {
                            return type.find(part) != std::string::npos;
                          });
    return is_plain ? "" : "{}";
  }
  if (code.is(first, "=")) ++first;
  const bool has_braces = code.is(first, "{");
  for (std::size_t i = first; i < last; ++i) {
    const CodeToken& token = code.at(i);
    const bool is_zero = token.is("0") || token.is("0.0f") || token.is("0.f") || token.is("0.0");
    const bool is_number = token.kind == CodeToken::Kind::number || token.is("-") ||
                           token.is("INFINITY") || token.is("FLT_MAX");
    const bool is_brace = token.is("{") || token.is("}") || token.is(",");
    if (has_braces ? !is_zero && !is_brace : !is_number) return "";
  }
  return has_braces ? "{}" : code.spelling(first, last);
}

/// A declaration of variables, which are known from then on. False where it is none.
bool StatementMutator::declaration(std::size_t first, std::size_t end) {
  std::size_t i = first;
  bool is_constant = false, is_shared = false;
  std::string type;
  while (i < end && (code_.at(i).is_one_of(kQualifiers) || code_.is(i, "alignas"))) {
    if (code_.is(i, "alignas")) i = code_.partner(i + 1);
    is_constant = is_constant || code_.is(i, "const");
    is_shared = is_shared || code_.is(i, "__shared__");
    if (code_.is(i, "unsigned")) type = "unsigned";
    ++i;
  }
  const bool is_bare_unsigned = type == "unsigned" && code_.at(i).is_word() &&
                                !code_.at(i + 1).is_word() && !code_.is(i + 1, "::") &&
                                !code_.is(i + 1, "*");
  if (!is_bare_unsigned) {
    if (!code_.at(i).is_word() || code_.at(i).is_one_of(kNoType)) return false;
    type += (type.empty() ? "" : " ") + code_.at(i).text;
    ++i;
    while (code_.at(i - 1).is_one_of(kOfSeveralWords) && code_.at(i).is_one_of(kOfSeveralWords)) {
      type += " " + code_.at(i++).text;
    }
    while (code_.is(i, "::") ||
           (code_.is(i, "<") && expressions_.behind_template_arguments(i) != i)) {
      const std::size_t behind =
          code_.is(i, "::") ? i + 2 : expressions_.behind_template_arguments(i);
      type += code_.spelling(i, behind);
      i = behind;
    }
    if (code_.is(i, "const")) ++i;
  }
  while (code_.is(i, "*") || code_.is(i, "&") || code_.is(i, "const") ||
         code_.is(i, "__restrict__")) {
    if (code_.is(i, "*")) type += " *";
    if (code_.is(i, "&")) is_shared = true;  // a reference: nothing but a variable fits
    ++i;
  }
  constexpr std::array<std::string_view, 7> kBehindName{"=", "{", "(", "[", ";", ",", ":"};
  const bool is_name = i > first && i < end && code_.at(i).is_word() &&
                       (code_.at(i + 1).is_one_of(kBehindName) || i + 1 == end);
  if (!is_name) return false;
  if (is_shared) {
    scopes_.declare(
        {.name = code_.at(i).text, .type = "shared " + type + code_.spelling(i + 1, end)});
    return true;
  }
  declarators(i, end, types_.resolve(type), is_constant);
  return true;
}

void StatementMutator::declarators(std::size_t name, std::size_t end, const std::string& type,
                                   bool is_constant) {
  while (name < end) {
    std::size_t i = name + 1;
    std::string whole = type;
    while (code_.is(i, "[")) {
      whole += code_.spelling(i, code_.partner(i) + 1);
      i = code_.partner(i) + 1;
    }
    std::size_t next = i;
    while (next < end && !code_.is(next, ",")) {
      if (code_.at(next).opens()) next = code_.partner(next);
      ++next;
    }
    next = std::min(next, end);
    // A constructor may take references.
    const bool is_value = code_.is(i, "=") || code_.is(i, "{") || type == "dim3";
    if (is_value && i < next) {
      if (type == "dim3" && code_.is(i, "(")) expressions_.exchange_arguments(i);
      // A constant that the compiler may need is a whole number.
      const bool is_real = type == "float" || type == "double";
      const bool is_mutated =
          initialiser(code_.is(i, "=") ? i + 1 : i, next, is_constant && !is_real);
      if (is_mutated && code_.is(i, "=")) bounds_.around_value(i + 1, next);
      const bool is_count = type != "auto" && is_whole_number(type);
      if (is_mutated && is_count && code_.is(i, "=")) {
        expressions_.mutate_scale_of_operands(i + 1, next);
        expressions_.mutate_scale(i + 1, next, true);
        expressions_.mutate_shift(i + 1, next);
      }
    }
    scopes_.declare({.name = code_.at(name).text,
                     .type = whole,
                     .initial = is_constant ? "" : initial_value(code_, i, next, whole)});
    name = next + 1;
    while (code_.is(name, "*")) ++name;
  }
}

/// @param is_constant of a const variable, which may have to stay a constant of the compiler's
/// @return whether it was mutated
bool StatementMutator::initialiser(std::size_t first, std::size_t last, bool is_constant) {
  bool may_change = !is_constant;
  for (std::size_t i = first; i < last && !may_change; ++i) {
    const CodeToken& token = code_.at(i);
    may_change = token.is_word() && (scopes_.find(token.text) != nullptr || token.is("threadIdx") ||
                                     token.is("blockIdx") || code_.is(i + 1, "("));
  }
  if (!may_change) return false;
  expressions_.mutate(first, last);
  expressions_.mutate_conjuncts(first, last);
  return true;
}

/// What a function returns or a statement stores.
void StatementMutator::value(std::size_t first, std::size_t last) {
  expressions_.mutate(first, last);
  expressions_.mutate_conjuncts(first, last);
  expressions_.mutate_scale(first, last);
}

/// A call or an assignment.
StatementMutator::Statement StatementMutator::expression(std::size_t first, std::size_t end) {
  expressions_.mutate(first, end);
  update(first, end);
  const std::string written = code_.spelling(first, end + 1);
  constexpr std::size_t kLongest = 60;
  const int number = mutants_.add_alone(
      MutantKind::left_out, first,
      written.size() > kLongest ? written.substr(0, kLongest) + "…" : written, "");
  edits_.wrap(first, end,
              fmt::format("{{ if (!rooflab_variants::is({}){}) ", number,
                          bounds_.before_statement(first, end)),
              " }");
  return {first, end + 1, true};
}

/// `x += y;` as a whole statement.
void StatementMutator::update(std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) {
    if (code_.at(i).opens()) {
      i = code_.partner(i);
      continue;
    }
    const std::string& sign = code_.at(i).text;
    const std::string_view function = function_of(sign);
    if (function.empty()) continue;
    if (i == first || i + 1 >= end || code_.is(i + 1, "{")) return;
    for (std::size_t k = i + 1; k < end; ++k) {
      if (!function_of(code_.at(k).text).empty()) return;  // a = b = c
    }
    expressions_.mutate_conjuncts(i + 1, end);
    const bool is_result =
        code_.is(i - 1, "]") || (i > first + 1 && (code_.is(i - 2, ".") || code_.is(i - 2, "->")));
    if (sign == "=") bounds_.around_value(i + 1, end);
    if (sign == "=" && is_result) expressions_.mutate_scale(i + 1, end);
    const int number = mutants_.begin_place();
    for (const std::string_view other : others_than(sign)) {
      mutants_.add(MutantKind::update, i, sign, std::string(other));
    }
    edits_.put_before(first, fmt::format("rooflab_variants::{}({}, ", function, number));
    edits_.replace(i, ",");
    edits_.put_behind(end - 1, ")");
    return;
  }
}

/// Two statements, one right behind the other, in the other order.
void StatementMutator::exchange_neighbours(const std::vector<Statement>& statements) {
  std::vector<std::pair<std::size_t, std::string>> guards;
  for (std::size_t i = 0; i + 1 < statements.size(); ++i) {
    const Statement& one = statements[i];
    const Statement& other = statements[i + 1];
    if (!one.may_move || !other.may_move) continue;
    const int number =
        mutants_.add_alone(MutantKind::order, one.first, code_.spelling(one.first, one.behind),
                           code_.spelling(other.first, other.behind));
    moved_.emplace_back(one.first, fmt::format("{{ if (rooflab_variants::is({})) {} }} ", number,
                                               edits_.joined(other.first, other.behind)));
    guards.emplace_back(i + 1, fmt::format("{{ if (!rooflab_variants::is({})) ", number));
  }
  for (const auto& [index, guard] : guards) {
    edits_.wrap(statements[index].first, statements[index].behind - 1, guard, " }");
  }
}

MutableSource with_mutants(const std::string& text, const std::vector<std::uint32_t>& skip) {
  // Of what a person wrote: more would take long to go through, or more of the stack than there is.
  constexpr std::size_t kMostTokens = 20'000, kDeepest = 100;
  const Code code(text);
  const bool is_too_much = code.size() > kMostTokens || code.depth() > kDeepest;
  if (code.renumbers_lines() || is_too_much) return {.text = text, .mutants = {}};
  return StatementMutator(code, skip).run();
}

}  // namespace rooflab::mutation
