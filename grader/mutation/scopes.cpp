#include "grader/mutation/scopes.h"

#include <algorithm>
#include <array>

namespace rooflab::mutation {
namespace {

/// Types whose values can stand for each other.
bool is_whole_number(std::string_view type) {
  constexpr std::array<std::string_view, 13> kTypes{
      "int",          "unsigned", "unsigned int",  "long",    "size_t", "std::size_t", "int64_t",
      "std::int64_t", "uint32_t", "std::uint32_t", "int32_t", "auto",   "long long"};
  return std::ranges::find(kTypes, type) != kTypes.end();
}

}  // namespace

const Variable* Scopes::find(std::string_view name) const {
  for (auto variable = variables_.rbegin(); variable != variables_.rend(); ++variable) {
    if (variable->name == name) return &*variable;
  }
  return nullptr;
}

std::vector<std::string> Scopes::numbers() const {
  std::vector<std::string> real, whole;
  for (auto variable = variables_.rbegin(); variable != variables_.rend(); ++variable) {
    const bool is_hidden = find(variable->name) != &*variable;
    if (is_hidden) continue;
    if (variable->type == "float" || variable->type == "double") real.push_back(variable->name);
    if (variable->type != "auto" && is_whole_number(variable->type))
      whole.push_back(variable->name);
  }
  real.insert(real.end(), whole.begin(), whole.end());
  return real;
}

std::vector<std::string> Scopes::others_like(const Variable& variable) const {
  std::vector<std::string> names;
  for (auto other = variables_.rbegin(); other != variables_.rend(); ++other) {
    const bool fits = other->type == variable.type ||
                      (is_whole_number(other->type) && is_whole_number(variable.type));
    const bool is_known =
        other->name == variable.name || std::ranges::find(names, other->name) != names.end();
    if (fits && !is_known) names.push_back(other->name);
  }
  return names;
}

}  // namespace rooflab::mutation
