#include "grader/mutation/expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "grader/mutation/words.h"

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
     {"*", "the left side alone", "the sides exchanged", "the remainder", "rounding up",
      "the divisor twice", "the root of the divisor"}},
    {"%", "*", "Remainder", "*", MutantKind::arithmetic, {"/", "the left side alone"}},
}};

bool is_keyword_before_value(const std::string& word) {
  return word == "return" || word == "case" || word == "else" || word == "throw" ||
         word == "sizeof";
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

void MutantList::note_division() {
  mutants_.back().vanished = mutants_.back().number / kOfAPlace * kOfAPlace + kOfAPlace - 1;
}

void ExpressionMutator::mutate(std::size_t first, std::size_t last) {
  exchanges(first, last);
  exchange_everywhere(first, last);
  for (std::size_t i = first; i < last;) i = mutate_at(i, first, last);
  move_operands(first, last);
  regroup_sums(first, last);
  wrap_all();
}

/// The shorter ones first, which lie inside the others.
void ExpressionMutator::wrap_all() {
  std::ranges::stable_sort(wraps_, {}, [](const Wrap& wrap) { return wrap.last - wrap.first; });
  for (const Wrap& wrap : wraps_) edits_.wrap(wrap.first, wrap.last, wrap.before, wrap.behind);
  wraps_.clear();
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
      if (token.is("(")) group(index, last);
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

void ExpressionMutator::number(std::size_t index) {
  const CodeToken& token = code_.at(index);
  const bool is_real = token.text.find('.') != std::string::npos || token.is("CUDART_INF_F");
  const bool is_hexadecimal = token.text.size() > 1 && token.text[0] == '0' &&
                              (token.text[1] == 'x' || token.text[1] == 'b');
  if (is_hexadecimal || (braces_ > 0 && !is_real)) return;
  const bool is_subscript_of_type = index > 0 && code_.is(index - 1, "<");
  if (is_subscript_of_type && code_.is(index + 1, ">")) return;
  const int first = mutants_.begin_place();
  for (const char* after : {"{} + 1", "{} - 1", "2 * {}", "{} / 2"}) {
    mutants_.add(MutantKind::number, index, token.text,
                 fmt::format(fmt::runtime(after), token.text));
  }
  for (const std::string& after : {"-" + token.text, std::string("0"), std::string("1")}) {
    mutants_.add(MutantKind::trivial, index, token.text, after);
  }
  mutants_.add_any_value(index, token.text);
  edits_.wrap(index, index, call("number", first), ")");
  // Another constant may be meant.
  std::vector<std::string> others = constants_;
  std::erase(others, token.text);
  constexpr std::size_t kMost = 4;
  if (others.size() > kMost) others.resize(kMost);
  if (!others.empty() && !is_real) pick(MutantKind::number, index, index, others);
}

void ExpressionMutator::sign(std::size_t index, std::size_t first) {
  const auto known =
      std::ranges::find(kSignsAndObjects, std::string_view(code_.at(index).text), &Operator::sign);
  if (known == kSignsAndObjects.end() || !is_binary(index, first)) return;
  const int number = mutants_.begin_place();
  for (const std::string_view after : known->alternatives) {
    mutants_.add(known->kind, index, std::string(known->sign), std::string(after));
    if (after == "/" || after == "the divisor twice") mutants_.note_division();
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
  const std::size_t open = code_.partner(index - 1);
  if (open >= index) return false;
  const bool is_call = open > 0 && (code_.at(open - 1).is_word() || code_.is(open - 1, ">"));
  const bool is_one_word = open + 2 == index - 1 && code_.at(open + 1).is_word();
  return is_call || !is_one_word || scopes_.find(code_.at(open + 1).text) != nullptr;
}

void ExpressionMutator::mutate_conjuncts(std::size_t first, std::size_t last) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  std::size_t begin = first;
  for (std::size_t i = first; i < last; ++i) {
    if (code_.at(i).opens()) {
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

std::string ExpressionMutator::named(std::size_t first, std::size_t last) const {
  constexpr std::size_t kLongest = 40;
  std::string written = code_.spelling(first, last);
  return written.size() > kLongest ? "the value" : written;
}

void ExpressionMutator::mutate_scale(std::size_t first, std::size_t last, bool is_whole) {
  if (first >= last || code_.is(first, "{")) return;
  constexpr std::size_t kMost = 7, kMostConstants = 4;
  std::vector<std::string> factors = scopes_.numbers(is_whole);
  if (is_whole) {
    const auto constants = std::min(constants_.size(), kMostConstants);
    factors.insert(factors.begin(), constants_.begin(),
                   constants_.begin() + static_cast<std::ptrdiff_t>(constants));
    factors.insert(factors.begin(), whole_factors_.begin(), whole_factors_.end());
    factors.insert(factors.begin(), factors_.begin(), factors_.end());
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
  const std::string before = named(first, last);
  for (const std::string& factor : factors) {
    mutants_.add(MutantKind::scale, first, before, "* " + factor);
    mutants_.add(MutantKind::scale, first, before, "/ " + factor);
    mutants_.note_division();
    alternatives += ", " + factor;
  }
  edits_.wrap(first, last - 1, call("scaled", number), alternatives + ")");
}

void ExpressionMutator::mutate_shift(std::size_t first, std::size_t last) {
  if (first >= last || code_.is(first, "{")) return;
  constexpr std::size_t kMostConstants = 2, kMostVariables = 5, kLatest = 2;
  const std::string before = named(first, last);
  const int number = mutants_.begin_place();
  std::string constants, variables;
  for (const std::string& constant : constants_ | std::views::take(kMostConstants)) {
    mutants_.add(MutantKind::scale, first, before, "+ " + constant);
    mutants_.add(MutantKind::scale, first, before, "- " + constant);
    constants += ", " + constant;
  }
  const std::size_t of_constants = 2 * std::min(constants_.size(), kMostConstants);
  // Without what it consists of: a number minus itself is 0.
  std::vector<std::string> numbers = scopes_.numbers(true);
  std::erase_if(numbers, [&](const std::string& name) {
    for (std::size_t i = first; i < last; ++i) {
      if (code_.is(i, name)) return true;
    }
    return false;
  });
  // Those of the loop around it, and then parameters, which are lengths.
  if (numbers.size() > kLatest) std::reverse(numbers.begin() + kLatest, numbers.end());
  for (const std::string& variable : numbers | std::views::take(kMostVariables)) {
    mutants_.add(MutantKind::scale, first, before, "- " + variable);
    mutants_.add(MutantKind::scale, first, before, "% " + variable);
    variables += ", " + variable;
  }
  if (constants.empty() && variables.empty()) return;
  edits_.wrap(first, last - 1,
              fmt::format("rooflab_variants::rest({}, {}, rooflab_variants::shifted({}, ", number,
                          of_constants, number),
              fmt::format("{}){})", constants, variables));
}

void ExpressionMutator::mutate_scale_of_operands(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    const bool begins = i == first || code_.at(i - 1).is_sum_sign();
    const bool ends = i + 1 == last || code_.at(i + 1).is_sum_sign();
    const bool is_name = code_.at(i).is_word() && scopes_.find(code_.at(i).text) != nullptr;
    if (begins && ends && is_name && last - first > 1) mutate_scale(i, i + 1, true);
    if (code_.at(i).opens()) i = code_.partner(i);
  }
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
