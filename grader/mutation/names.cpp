#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grader/mutation/constants.h"
#include "grader/mutation/expressions.h"
#include "grader/mutation/words.h"

namespace rooflab::mutation {
namespace {

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

bool is_assignment(const std::string& sign) {
  return sign.size() >= 1 && sign.back() == '=' && sign != "==" && sign != "<=" && sign != ">=" &&
         sign != "!=";
}

}  // namespace

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

std::string call(std::string_view function, int number) {
  return fmt::format("rooflab_variants::{}({}, ", function, number);
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

/// Whole numbers by which the function multiplies or divides, or of which it takes a rest: what a
/// count lacks is often one.
void ExpressionMutator::note_whole_factors(std::size_t first, std::size_t last) {
  constexpr std::size_t kMost = 2;
  whole_factors_.clear();
  for (std::size_t i = first; i + 1 < last && whole_factors_.size() < kMost; ++i) {
    const bool scales = code_.is(i, "*") || code_.is(i, "/") || code_.is(i, "%");
    const CodeToken& number = code_.at(i + 1);
    if (!scales || !number.is_whole() || number.is("0") || number.is("1")) continue;
    if (std::ranges::find(whole_factors_, number.text) == whole_factors_.end())
      whole_factors_.push_back(number.text);
  }
}

/// `* kWidth<T>` and `* WIDTH(T)`, or what `constexpr int` names of them: constants that depend on
/// a type. What depends on a variable may not be known elsewhere.
void ExpressionMutator::note_factors(std::size_t first, std::size_t last) {
  constexpr std::size_t kMost = 2;
  note_whole_factors(first, last);
  factors_.clear();
  for (std::size_t i = first; i + 3 < last && factors_.empty(); ++i) {
    const bool is_constant_of_type = code_.is(i, "constexpr") && code_.is(i + 1, "int") &&
                                     code_.is(i + 3, "=") &&
                                     !std::isfinite(value_of(code_.at(i + 2).text, code_));
    if (is_constant_of_type) factors_.push_back(code_.at(i + 2).text);
  }
  for (std::size_t i = first; i + 2 < last && factors_.size() < kMost; ++i) {
    if (!code_.is(i, "*") || !code_.at(i + 1).is_word()) continue;
    std::size_t name = i + 1;
    while (code_.is(name + 1, "::") && code_.at(name + 2).is_word()) name += 2;
    std::size_t behind = name + 1;
    if (code_.is(behind, "<")) {
      behind = behind_template_arguments(behind);
    } else if (code_.is(behind, "(") && is_constant(code_.at(name).text) &&
               code_.partner(behind) == behind + 2 && code_.at(behind + 1).is_word() &&
               std::isupper(static_cast<unsigned char>(code_.at(behind + 1).text.front())) != 0 &&
               scopes_.find(code_.at(behind + 1).text) == nullptr) {
      behind = code_.partner(behind) + 1;
    }
    // Not a call, nor a comparison.
    if (behind == name + 1 || behind > last || code_.is(behind, "(")) continue;
    std::string factor = code_.spelling(i + 1, behind);
    if (std::ranges::find(factors_, factor) == factors_.end())
      factors_.push_back(std::move(factor));
  }
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
  if (token.is("dim3") && code_.is(index + 1, "(")) exchange_arguments(index + 1);
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
  // A place in the warp, or an extent, may be meant.
  constexpr std::size_t kMostVariables = 4;
  for (const std::string& variable : scopes_.numbers(true) | std::views::take(kMostVariables)) {
    others.push_back(variable);
  }
  pick(MutantKind::name, index, index + 2, others);
  // A block may take more than it is told to.
  const bool is_factor = code_.is(index + 3, "*") || (index > 0 && code_.is(index - 1, "*")) ||
                         (code_.is(index + 3, ")") && code_.is(index + 4, "*"));
  if (object == "blockIdx" && is_factor) mutate_scale(index, index + 3, true);
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
    if (!others.empty()) pick(MutantKind::name, index, end, others);
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
  if (!others.empty()) pick(MutantKind::name, index, index, others);
}

/// `(gridDim.x * kWide)`: a length that is known by a name instead, such as `columns`.
void ExpressionMutator::group(std::size_t index, std::size_t last) {
  const std::size_t end = code_.partner(index);
  const bool is_call = index > 0 && (code_.at(index - 1).is_word() || code_.is(index - 1, ">") ||
                                     code_.is(index - 1, ")") || code_.is(index - 1, "]"));
  if (is_call || end >= last || end < index + 4) return;
  std::set<std::string> within;
  for (std::size_t i = index + 1; i < end; ++i) {
    const CodeToken& token = code_.at(i);
    const bool is_part = token.is("*") || token.is("+") || token.is("-") || token.is("/") ||
                         token.is("%") || token.is(".") || token.is_whole();
    if (is_part) continue;
    if (!token.is_word()) return;
    const bool has_own_type = !code_.is(i - 1, ".") && !code_.is(i + 1, ".");
    const Variable* const variable = has_own_type ? scopes_.find(token.text) : nullptr;
    if (variable != nullptr && !is_whole_number(variable->type)) return;
    within.insert(token.text);
  }
  constexpr std::size_t kMost = 8;
  std::vector<std::string> others = scopes_.numbers(true);
  std::erase_if(others, [&](const std::string& name) { return within.contains(name); });
  if (others.size() > kMost) others.resize(kMost);
  if (!others.empty()) pick(MutantKind::name, index, end, others);
}

void ExpressionMutator::pick(MutantKind kind, std::size_t first, std::size_t last,
                             const std::vector<std::string>& others) {
  const std::string written = code_.spelling(first, last + 1);
  const int number = mutants_.begin_place();
  std::string alternatives;
  for (const std::string& other : others | std::views::take(MutantList::kMostOfAPlace)) {
    mutants_.add(kind, first, written, other);
    alternatives += ", " + other;
  }
  edits_.wrap(first, last, call("pick", number), alternatives + ")");
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
  std::size_t open = code_.around(index);
  while (open < code_.size() && !code_.is(open, "(")) open = code_.around(open);
  if (open >= code_.size() || open < std::max(first, std::size_t{1})) return true;
  const CodeToken& function = code_.at(open - 1);
  return !function.is_word() || !changing_functions_.contains(function.text);
}

/// The file's functions that may change what they are given.
std::set<std::string> ExpressionMutator::changing_functions(const Code& code) {
  std::set<std::string> functions;
  for (std::size_t i = 1; i < code.size(); ++i) {
    const bool is_definition = code.at(i).is_word() && code.is(i + 1, "(") &&
                               code.is(code.partner(i + 1) + 1, "{") &&
                               (code.at(i - 1).is_word() || code.is(i - 1, "*") ||
                                code.is(i - 1, "&") || code.is(i - 1, ">"));
    if (!is_definition) continue;
    bool is_const = false;
    for (std::size_t k = i + 2; k < code.partner(i + 1); ++k) {
      if (code.is(k, ",")) is_const = false;
      if (code.is(k, "const")) is_const = true;
      if (code.is(k, "&") && !is_const) functions.insert(code.at(i).text);
    }
  }
  return functions;
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
    if (code_.is(i, "[") && !is_subscript(i)) i = behind_lambda(i);
    if (i >= last || !code_.at(i).is_word()) continue;
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

}  // namespace rooflab::mutation
