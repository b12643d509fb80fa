#include "grader/mutation/expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include "grader/mutation/constants.h"

namespace rooflab::mutation {
namespace {

using Words = std::vector<std::string_view>;

/// A binary operator, the object that stands for it (variant_header.cpp), and what its mutants do,
/// in the order of their numbers there.
struct Operator {
  std::string_view sign, left, object, right;
  MutantKind kind;
  Words alternatives;
};

const std::array<Operator, 11> kSignsAndObjects{{
    {"<", "<", "Less", ">", MutantKind::comparison, {"<=", ">"}},
    {"<=", "<", "LessEqual", ">", MutantKind::comparison, {"<", ">="}},
    {">", "<", "Greater", ">", MutantKind::comparison, {">=", "<"}},
    {">=", "<", "GreaterEqual", ">", MutantKind::comparison, {">", "<="}},
    {"==", "==", "Equal", "==", MutantKind::comparison, {"!="}},
    {"!=", "==", "Unequal", "==", MutantKind::comparison, {"=="}},
    {"+",
     "+",
     "Sum",
     "+",
     MutantKind::arithmetic,
     {"-", "the left side alone", "the right side alone", "*", "one more", "one less"}},
    {"-",
     "+",
     "Difference",
     "+",
     MutantKind::arithmetic,
     {"+", "the left side alone", "the sides exchanged", "one more", "one less"}},
    {"*",
     "*",
     "Product",
     "*",
     MutantKind::arithmetic,
     {"+", "the left side alone", "the right side alone", "/", "the right factor twice",
      "the left factor twice", "-"}},
    {"/",
     "*",
     "Quotient",
     "*",
     MutantKind::arithmetic,
     {"*", "the left side alone", "the sides exchanged", "the remainder, or the divisor twice",
      "rounding up, or the divisor's root"}},
    {"%", "*", "Remainder", "*", MutantKind::arithmetic, {"/", "the left side alone"}},
}};

/// Functions and what may stand in their place.
struct Function {
  std::string_view name, object, other;
};
constexpr std::array<Function, 18> kFunctions{{
    {"expf", "expf_or_exp2f", "exp2f"},
    {"exp2f", "exp2f_or_expf", "expf"},
    {"__expf", "__expf_or_exp2f", "exp2f"},
    {"logf", "logf_or_log2f", "log2f"},
    {"log2f", "log2f_or_logf", "logf"},
    {"sinf", "sinf_or_cosf", "cosf"},
    {"cosf", "cosf_or_sinf", "sinf"},
    {"fmaxf", "fmaxf_or_fminf", "fminf"},
    {"fminf", "fminf_or_fmaxf", "fmaxf"},
    {"max", "max_or_least", "min"},
    {"min", "min_or_most", "max"},
    {"fabsf", "fabsf_or_same", "the value itself"},
    {"sqrtf", "sqrtf_or_same", "the value itself"},
    {"rsqrtf", "rsqrtf_or_sqrtf", "sqrtf"},
    {"tanhf", "tanhf_or_same", "the value itself"},
    {"__shfl_down_sync", "__shfl_down_sync_or___shfl_xor_sync", "__shfl_xor_sync"},
    {"__shfl_xor_sync", "__shfl_xor_sync_or___shfl_down_sync", "__shfl_down_sync"},
    {"__shfl_up_sync", "__shfl_up_sync_or___shfl_down_sync", "__shfl_down_sync"},
}};

/// A constant by its name: kTile, TILE, CUDART_INF_F.
bool is_constant(const std::string& name) {
  const auto is_upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  if (name == "NULL" || name == "INFINITY") return false;
  if (name.size() > 1 && name[0] == 'k' && is_upper(name[1])) return true;
  return name.size() > 1 && std::ranges::all_of(name, [&](char c) {
           return is_upper(c) || c == '_' || std::isdigit(static_cast<unsigned char>(c)) != 0;
         });
}

bool is_axis_object(const std::string& name) {
  return name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim";
}

bool is_keyword_before_value(const std::string& word) {
  return word == "return" || word == "case" || word == "else" || word == "throw" ||
         word == "sizeof";
}

bool is_assignment(const std::string& sign) {
  return sign.size() >= 1 && sign.back() == '=' && sign != "==" && sign != "<=" && sign != ">=" &&
         sign != "!=";
}

std::string call(std::string_view function, int number) {
  return fmt::format("rooflab_variants::{}({}, ", function, number);
}

}  // namespace

int MutantList::begin_place() {
  next_ = (next_ / kOfAPlace + 1) * kOfAPlace + 1;
  return next_;
}

int MutantList::add_alone(MutantKind kind, std::size_t place, std::string before,
                          std::string after) {
  begin_place();
  return add(kind, place, std::move(before), std::move(after));
}

int MutantList::add(MutantKind kind, std::size_t place, std::string before, std::string after) {
  const int number = next_++;
  mutants_.push_back({.number = number,
                      .kind = kind,
                      .line = code_.at(place).line,
                      .column = code_.column(place),
                      .before = std::move(before),
                      .after = std::move(after)});
  return number;
}

void MutantList::add_any_value(std::size_t place, std::string before) {
  add(MutantKind::number, place, std::move(before), "");
  mutants_.back().is_any_value = true;
}

void ExpressionMutator::note_members(std::size_t first, std::size_t last) {
  members_.clear();
  constants_.clear();
  for (std::size_t i = first; i < last; ++i) {
    const std::string& name = code_.at(i).text;
    const bool is_new = code_.at(i).is_word() && is_constant(name) && name.back() != 'F' &&
                        !code_.is(i + 1, "(") && !code_.is(i + 1, "::") &&
                        std::ranges::find(constants_, name) == constants_.end();
    if (is_new && std::isfinite(value_of(name, code_))) constants_.push_back(name);
  }
  for (std::size_t i = first; i + 2 < last; ++i) {
    const bool is_one = code_.at(i).is_word() && (code_.is(i + 1, ".") || code_.is(i + 1, "->")) &&
                        code_.at(i + 2).is_word() && !code_.is(i + 3, "(") &&
                        !code_.is(i + 3, "<") &&
                        !(i > 0 && (code_.is(i - 1, ".") || code_.is(i - 1, "->"))) &&
                        !is_axis_object(code_.at(i).text);
    if (!is_one) continue;
    const Member member{code_.at(i).text, code_.at(i + 2).text};
    const bool is_known = std::ranges::any_of(members_, [&](const Member& known) {
      return known.object == member.object && known.name == member.name;
    });
    if (!is_known) members_.push_back(member);
  }
}

void ExpressionMutator::mutate(std::size_t first, std::size_t last) {
  exchanges(first, last);
  exchange_everywhere(first, last);
  for (std::size_t i = first; i < last;) i = mutate_at(i, first, last);
}

/// @return the token to go on with
std::size_t ExpressionMutator::mutate_at(std::size_t index, std::size_t first, std::size_t last) {
  const CodeToken& token = code_.at(index);
  if (token.is("sizeof") || token.is("decltype") || token.is("alignof")) {
    return code_.is(index + 1, "(") ? std::min(code_.partner(index + 1) + 1, last) : index + 1;
  }
  if (token.is("<<<") || token.is(">>>")) return index + 1;
  if (token.is("[") && !is_subscript(index)) return behind_lambda(index);
  if (token.is("{")) {
    ++braces_;
    const std::size_t end = std::min(code_.partner(index), last);
    for (std::size_t i = index + 1; i < end;) i = mutate_at(i, index + 1, end);
    --braces_;
    return end + 1;
  }
  switch (token.kind) {
    case CodeToken::Kind::word:
      return word(index, last);
    case CodeToken::Kind::number:
      number(index);
      return index + 1;
    case CodeToken::Kind::sign:
      if (token.is(">") && code_.is(index + 1, ">")) return index + 2;  // a shift
      sign(index, first);
      return index + 1;
    case CodeToken::Kind::text:
      return index + 1;
  }
  return index + 1;
}

/// Whether a value stands before the bracket.
bool ExpressionMutator::is_subscript(std::size_t index) const {
  if (index == 0) return false;
  const CodeToken& before = code_.at(index - 1);
  return (before.is_word() && !is_keyword_before_value(before.text)) || before.is(")") ||
         before.is("]");
}

/// A function of its own, whose names are others.
std::size_t ExpressionMutator::behind_lambda(std::size_t index) const {
  std::size_t i = code_.partner(index) + 1;
  if (code_.is(i, "(")) i = code_.partner(i) + 1;
  while (i < code_.size() && !code_.is(i, "{") && !code_.is(i, ";")) ++i;
  return code_.is(i, "{") ? code_.partner(i) + 1 : i;
}

std::size_t ExpressionMutator::word(std::size_t index, std::size_t last) {
  const CodeToken& token = code_.at(index);
  if (is_axis_object(token.text) && code_.is(index + 1, ".")) return axis(index);
  const bool is_object = code_.is(index + 1, ".") || code_.is(index + 1, "->");
  if (is_object) return member(index, last);
  if (code_.is(index + 1, "<") && scopes_.find(token.text) == nullptr) {
    const std::size_t behind = behind_template_arguments(index + 1);
    if (behind != index + 1) return behind;
  }
  if (code_.is(index + 1, "(") && function_name(index)) return index + 1;
  if (code_.is(index + 1, "::") || code_.is(index + 1, "(")) return index + 1;
  const bool is_qualified = index > 0 && code_.is(index - 1, "::");
  if (is_constant(token.text) && !is_qualified && scopes_.find(token.text) == nullptr) {
    number(index);
    return index + 1;
  }
  if (!is_qualified) name(index, 0, last);
  return index + 1;
}

/// threadIdx.x: another axis, or the block's in place of the thread's.
std::size_t ExpressionMutator::axis(std::size_t index) {
  const std::string& object = code_.at(index).text;
  const std::string& letter = code_.at(index + 2).text;
  std::vector<std::string> others;
  for (const char* other : {"x", "y", "z"}) {
    if (letter != other) others.push_back(object + "." + other);
  }
  for (const char* other : {"threadIdx", "blockIdx", "blockDim", "gridDim"}) {
    const bool is_index = object == "threadIdx" || object == "blockIdx";
    const bool other_is_index =
        std::string_view(other) == "threadIdx" || std::string_view(other) == "blockIdx";
    if (object != other && is_index == other_is_index)
      others.push_back(fmt::format("{}.{}", other, letter));
  }
  pick(index, index + 2, others);
  return index + 3;
}

std::size_t ExpressionMutator::member(std::size_t index, std::size_t last) {
  std::size_t end = index;
  while ((code_.is(end + 1, ".") || code_.is(end + 1, "->")) && code_.at(end + 2).is_word()) {
    end += 2;
  }
  if (code_.is(end + 1, "<")) {
    const std::size_t behind = behind_template_arguments(end + 1);
    if (behind != end + 1) return behind;
  }
  const bool is_simple = end == index + 2;
  const bool is_method = code_.is(end + 1, "(");
  if (is_simple && !is_method && end < last && !is_changed(index, end + 1) &&
      passes_by_value(index, 0, end + 1)) {
    std::vector<std::string> others;
    for (const Member& other : members_) {
      if (other.object != code_.at(index).text || other.name == code_.at(end).text) continue;
      others.push_back(other.object + code_.at(index + 1).text + other.name);
    }
    if (!others.empty()) pick(index, end, others);
  }
  return end + 1;
}

/// A function that another one is mistaken for.
bool ExpressionMutator::function_name(std::size_t index) {
  if (index > 0 && (code_.is(index - 1, "::") || code_.is(index - 1, "."))) return false;
  const auto known =
      std::ranges::find(kFunctions, std::string_view(code_.at(index).text), &Function::name);
  if (known == kFunctions.end()) return false;
  const int number = mutants_.add_alone(MutantKind::function, index, code_.at(index).text,
                                        std::string(known->other));
  edits_.replace(index, fmt::format("rooflab_variants::{}({})", known->object, number));
  return true;
}

/// A variable: another one of its type.
void ExpressionMutator::name(std::size_t index, std::size_t first, std::size_t last) {
  const Variable* const variable = scopes_.find(code_.at(index).text);
  const bool may = variable != nullptr && index < last && !is_changed(index, index + 1) &&
                   passes_by_value(index, first, index + 1);
  if (!may) return;
  constexpr std::size_t kMost = 8;
  std::vector<std::string> others = scopes_.others_like(*variable);
  if (others.size() > kMost) others.resize(kMost);
  if (!others.empty()) pick(index, index, others);
}

void ExpressionMutator::pick(std::size_t first, std::size_t last,
                             const std::vector<std::string>& others) {
  const std::string written = code_.spelling(first, last + 1);
  const int number = mutants_.begin_place();
  std::string alternatives;
  for (const std::string& other : others) {
    mutants_.add(MutantKind::name, first, written, other);
    alternatives += ", " + other;
  }
  edits_.wrap(first, last, call("pick", number), alternatives + ")");
}

void ExpressionMutator::number(std::size_t index) {
  const CodeToken& token = code_.at(index);
  const bool is_real = token.text.find('.') != std::string::npos || token.is("CUDART_INF_F");
  const bool is_hexadecimal = token.text.size() > 1 && token.text[0] == '0' &&
                              (token.text[1] == 'x' || token.text[1] == 'b');
  if (is_hexadecimal || (braces_ > 0 && !is_real)) return;
  const bool is_subscript_of_type = index > 0 && code_.is(index - 1, "<");
  if (is_subscript_of_type && code_.is(index + 1, ">")) return;
  const int first = mutants_.begin_place();
  for (const char* after : {"{} + 1", "{} - 1", "2 * {}", "{} / 2", "-{}"}) {
    mutants_.add(MutantKind::number, index, token.text,
                 fmt::format(fmt::runtime(after), token.text));
  }
  mutants_.add(MutantKind::number, index, token.text, "0");
  mutants_.add(MutantKind::number, index, token.text, "1");
  mutants_.add_any_value(index, token.text);
  edits_.wrap(index, index, call("number", first), ")");
  // Another constant may be meant.
  std::vector<std::string> others = constants_;
  std::erase(others, token.text);
  constexpr std::size_t kMost = 4;
  if (others.size() > kMost) others.resize(kMost);
  if (!others.empty() && !is_real) pick(index, index, others);
}

void ExpressionMutator::sign(std::size_t index, std::size_t first) {
  const auto known =
      std::ranges::find(kSignsAndObjects, std::string_view(code_.at(index).text), &Operator::sign);
  if (known == kSignsAndObjects.end() || !is_binary(index, first)) return;
  const int number = mutants_.begin_place();
  for (const std::string_view after : known->alternatives) {
    mutants_.add(known->kind, index, std::string(known->sign), std::string(after));
  }
  edits_.replace(index, fmt::format("{} rooflab_variants::{}({}) {}", known->left, known->object,
                                    number, known->right));
}

/// Whether a value stands before the sign.
bool ExpressionMutator::is_binary(std::size_t index, std::size_t first) const {
  if (index == first) return false;
  const CodeToken& before = code_.at(index - 1);
  if (before.kind == CodeToken::Kind::number || before.is("]")) return true;
  if (before.is_word()) {
    constexpr std::array<std::string_view, 8> kTypes{"float", "int",    "double", "char",
                                                     "bool",  "size_t", "auto",   "unsigned"};
    return !is_keyword_before_value(before.text) &&
           std::ranges::find(kTypes, before.text) == kTypes.end();
  }
  if (!before.is(")")) return false;
  // Behind a cast such as (float), a sign belongs to the value that follows.
  for (std::size_t open = index - 1; open-- > 0;) {
    if (!code_.is(open, "(") || code_.partner(open) != index - 1) continue;
    const bool is_call = open > 0 && (code_.at(open - 1).is_word() || code_.is(open - 1, ">"));
    const bool is_one_word = open + 2 == index - 1 && code_.at(open + 1).is_word();
    return is_call || !is_one_word || scopes_.find(code_.at(open + 1).text) != nullptr;
  }
  return false;
}

/// Whether something other than the value is wanted.
bool ExpressionMutator::is_changed(std::size_t index, std::size_t behind) const {
  const CodeToken& next = code_.at(behind);
  if (is_assignment(next.text) || next.is("++") || next.is("--")) return true;
  if (index == 0) return false;
  const CodeToken& before = code_.at(index - 1);
  if (before.is("&") && !is_binary(index - 1, 0)) return true;
  return before.is("++") || before.is("--") || before.is(".") || before.is("->") || before.is("[&");
}

/// An argument that is just a name may be passed by reference.
bool ExpressionMutator::passes_by_value(std::size_t index, std::size_t first,
                                        std::size_t behind) const {
  if (index == first) return true;
  const CodeToken& before = code_.at(index - 1);
  const CodeToken& next = code_.at(behind);
  const bool is_argument = (before.is("(") || before.is(",")) && (next.is(")") || next.is(","));
  if (!is_argument) return true;
  int depth = 0;
  for (std::size_t i = index; i-- > first;) {
    if (code_.is(i, ")") || code_.is(i, "]") || code_.is(i, "}")) ++depth;
    if (code_.is(i, "[") || code_.is(i, "{")) --depth;
    if (code_.is(i, ";")) return true;
    if (!code_.is(i, "(") || depth-- > 0) continue;
    if (i == 0) return true;
    const CodeToken& function = code_.at(i - 1);
    return !function.is_word() || !takes_references(function.text);
  }
  return true;
}

/// Whether the file has a function of this name that may change what it is given.
bool ExpressionMutator::takes_references(const std::string& function) const {
  for (std::size_t i = 1; i < code_.size(); ++i) {
    const bool is_definition = code_.is(i, function) && code_.is(i + 1, "(") &&
                               code_.is(code_.partner(i + 1) + 1, "{") &&
                               (code_.at(i - 1).is_word() || code_.is(i - 1, "*") ||
                                code_.is(i - 1, "&") || code_.is(i - 1, ">"));
    if (!is_definition) continue;
    bool is_const = false;
    for (std::size_t k = i + 2; k < code_.partner(i + 1); ++k) {
      if (code_.is(k, ",")) is_const = false;
      if (code_.is(k, "const")) is_const = true;
      if (code_.is(k, "&") && !is_const) return true;
    }
  }
  return false;
}

/// row * width + column: the two names in each other's place.
void ExpressionMutator::exchanges(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i + 4 < last; ++i) {
    const bool is_index = code_.at(i).is_word() && code_.is(i + 1, "*") &&
                          code_.at(i + 2).is_word() && code_.is(i + 3, "+") &&
                          code_.at(i + 4).is_word() && scopes_.find(code_.at(i).text) != nullptr &&
                          scopes_.find(code_.at(i + 4).text) != nullptr && !code_.is(i + 5, "*") &&
                          !code_.is(i + 5, "[") && !code_.is(i + 5, "(");
    const bool is_part = i > first && (code_.is(i - 1, ".") || code_.is(i - 1, "*") ||
                                       code_.is(i - 1, "/") || code_.is(i - 1, "%"));
    if (!is_index || is_part) continue;
    const std::string one = code_.at(i).text, other = code_.at(i + 4).text;
    const int number =
        mutants_.add_alone(MutantKind::exchange, i, code_.spelling(i, i + 5),
                           fmt::format("{} * {} + {}", other, code_.at(i + 2).text, one));
    edits_.wrap(i, i, call("pick", number), ", " + other + ")");
    edits_.wrap(i + 4, i + 4, call("pick", number), ", " + one + ")");
  }
}

/// Names, members and axes between `first` and `last` whose value is read.
std::vector<ExpressionMutator::ReadName> ExpressionMutator::names_read(std::size_t first,
                                                                       std::size_t last) const {
  std::vector<ReadName> names;
  for (std::size_t i = first; i < last; ++i) {
    if (!code_.at(i).is_word()) continue;
    const bool is_part =
        i > first && (code_.is(i - 1, ".") || code_.is(i - 1, "->") || code_.is(i - 1, "::"));
    if (is_part) continue;
    const bool has_member = (code_.is(i + 1, ".") || code_.is(i + 1, "->")) && i + 2 < last;
    const std::size_t end = has_member ? i + 2 : i;
    const CodeToken& next = code_.at(end + 1);
    const bool is_value = !next.is("(") && !next.is(".") && !next.is("->") && !next.is("<") &&
                          !is_changed(i, end + 1) && passes_by_value(i, first, end + 1);
    const Variable* const variable = scopes_.find(code_.at(i).text);
    const bool is_axis = has_member && is_axis_object(code_.at(i).text);
    if (!is_value || (variable == nullptr && !is_axis)) continue;
    const std::string type = has_member ? "a member" : variable->type;
    names.push_back({i, end, code_.spelling(i, end + 1), type});
  }
  return names;
}

/// Two names of a statement in each other's place, wherever it has them.
void ExpressionMutator::exchange_everywhere(std::size_t first, std::size_t last) {
  constexpr std::size_t kMostPairs = 10;
  const std::vector<ReadName> names = names_read(first, last);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const ReadName& one : names) {
    for (const ReadName& other : names) {
      const bool is_pair =
          one.first < other.first && one.spelling != other.spelling && one.type == other.type;
      const auto is_known = [&](const auto& pair) {
        return (pair.first == one.spelling && pair.second == other.spelling) ||
               (pair.first == other.spelling && pair.second == one.spelling);
      };
      if (!is_pair || std::ranges::any_of(pairs, is_known) || pairs.size() >= kMostPairs) continue;
      pairs.emplace_back(one.spelling, other.spelling);
      const int number = mutants_.add_alone(
          MutantKind::exchange, one.first, fmt::format("{}` and `{}", one.spelling, other.spelling),
          fmt::format("{}` and `{}", other.spelling, one.spelling));
      for (const ReadName& each : names) {
        const bool is_one = each.spelling == one.spelling;
        if (!is_one && each.spelling != other.spelling) continue;
        edits_.wrap(each.first, each.last, call("pick", number),
                    fmt::format(", {})", is_one ? other.spelling : one.spelling));
      }
    }
  }
}

void ExpressionMutator::mutate_conjuncts(std::size_t first, std::size_t last) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  std::size_t begin = first;
  for (std::size_t i = first; i < last; ++i) {
    if (code_.is(i, "(") || code_.is(i, "[") || code_.is(i, "{")) {
      i = code_.partner(i);
      continue;
    }
    if (code_.is(i, "?")) last = i;
    if (code_.is(i, "||") || code_.is(i, ":") || code_.is(i, ",")) return;
    if (!code_.is(i, "&&")) continue;
    parts.emplace_back(begin, i);
    begin = i + 1;
  }
  if (parts.empty()) return;
  parts.emplace_back(begin, last);
  for (const auto& [from, to] : parts) {
    if (from >= to) return;
    const int number = mutants_.add_alone(MutantKind::conjunct, from, code_.spelling(from, to), "");
    edits_.wrap(from, to - 1, fmt::format("(rooflab_variants::is({}) || (", number), "))");
  }
}

void ExpressionMutator::mutate_scale(std::size_t first, std::size_t last, bool is_whole) {
  if (first >= last || code_.is(first, "{")) return;
  constexpr std::size_t kMost = 7, kMostConstants = 4;
  std::vector<std::string> factors = scopes_.numbers(is_whole);
  if (is_whole) {
    const auto constants = std::min(constants_.size(), kMostConstants);
    factors.insert(factors.begin(), constants_.begin(),
                   constants_.begin() + static_cast<std::ptrdiff_t>(constants));
  }
  for (const Member& member : members_) {
    const Variable* const object = scopes_.find(member.object);
    const bool is_pointer = object == nullptr || object->type.find('*') != std::string::npos;
    if (!is_pointer) factors.push_back(member.object + "." + member.name);
  }
  if (factors.size() > kMost) factors.resize(kMost);
  if (factors.empty()) return;
  const int number = mutants_.begin_place();
  std::string alternatives;
  const std::string written = code_.spelling(first, last);
  constexpr std::size_t kLongest = 40;
  const std::string before = written.size() > kLongest ? "the value" : written;
  for (const std::string& factor : factors) {
    mutants_.add(MutantKind::scale, first, before, "* " + factor);
    mutants_.add(MutantKind::scale, first, before, "/ " + factor);
    alternatives += ", " + factor;
  }
  edits_.wrap(first, last - 1, call("scaled", number), alternatives + ")");
}

std::size_t ExpressionMutator::behind_template_arguments(std::size_t begin) const {
  int depth = 0;
  for (std::size_t i = begin; i < code_.size() && i < begin + 40; ++i) {
    const CodeToken& token = code_.at(i);
    if (token.is("<")) ++depth;
    if (token.is(">") && --depth == 0) {
      const CodeToken& next = code_.at(i + 1);
      const bool may_follow = next.is("(") || next.is("::") || next.is("{") || next.is(">") ||
                              next.is(",") || next.is(")") || next.is(";") || next.is("&") ||
                              next.is("*") || next.is("<<<") || next.is_word();
      return may_follow ? i + 1 : begin;
    }
    const bool is_part = token.is_word() || token.kind == CodeToken::Kind::number ||
                         token.is("<") || token.is(">") || token.is("::") || token.is(",") ||
                         token.is("*") || token.is("&") || token.is("+") || token.is("-") ||
                         token.is("/");
    if (!is_part) return begin;
  }
  return begin;
}

}  // namespace rooflab::mutation
