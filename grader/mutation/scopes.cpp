#include "grader/mutation/scopes.h"

#include <algorithm>
#include <array>
#include <set>

namespace rooflab::mutation {

bool is_whole_number(std::string_view type) {
  constexpr std::array<std::string_view, 18> kTypes{
      "int",           "unsigned",           "unsigned int", "long",         "unsigned long",
      "long long",     "unsigned long long", "size_t",       "std::size_t",  "std::ptrdiff_t",
      "int32_t",       "std::int32_t",       "int64_t",      "std::int64_t", "uint32_t",
      "std::uint32_t", "std::uint64_t",      "auto"};
  return std::ranges::find(kTypes, type) != kTypes.end();
}

TypeNames::TypeNames(const Code& code) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!code.is(i, "typedef") && !code.is(i, "using")) continue;
    std::size_t end = i;
    while (end < code.size() && !code.is(end, ";") && !code.is(end, "{")) ++end;
    if (!code.is(end, ";")) continue;
    if (code.is(i, "typedef") && end > i + 2) {
      types_[code.at(end - 1).text] = code.spelling(i + 1, end - 1);
    } else if (code.is(i, "using") && code.is(i + 2, "=")) {
      types_[code.at(i + 1).text] = code.spelling(i + 3, end);
    }
  }
}

std::string TypeNames::resolve(std::string type) const {
  constexpr int kMostSteps = 4;  // one may name another, or, in a broken file, itself
  for (int i = 0; i < kMostSteps; ++i) {
    const auto known = types_.find(type);
    if (known == types_.end()) break;
    type = known->second;
  }
  return type;
}

const Variable* Scopes::find(std::string_view name) const {
  for (auto variable = variables_.rbegin(); variable != variables_.rend(); ++variable) {
    if (variable->name == name) return &*variable;
  }
  return nullptr;
}

std::vector<std::string> Scopes::numbers(bool is_whole) const {
  std::set<std::string_view> seen;
  std::vector<std::string> real, whole;
  for (auto variable = variables_.rbegin(); variable != variables_.rend(); ++variable) {
    const bool is_hidden = !seen.insert(variable->name).second;
    if (is_hidden) continue;
    if (variable->type == "float" || variable->type == "double") real.push_back(variable->name);
    if (variable->type != "auto" && is_whole_number(variable->type))
      whole.push_back(variable->name);
  }
  if (is_whole) return whole;
  real.insert(real.end(), whole.begin(), whole.end());
  return real;
}

std::vector<std::string> Scopes::others_like(const Variable& variable) const {
  std::set<std::string_view> seen{variable.name};
  std::vector<std::string> names;
  for (auto other = variables_.rbegin(); other != variables_.rend(); ++other) {
    const bool fits = other->type == variable.type ||
                      (is_whole_number(other->type) && is_whole_number(variable.type));
    if (fits && seen.insert(other->name).second) names.push_back(other->name);
  }
  return names;
}

}  // namespace rooflab::mutation
