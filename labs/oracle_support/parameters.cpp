#include "labs/oracle_support/parameters.h"

#include <stdexcept>

namespace rooflab {
namespace {

[[noreturn]] void refuse(const std::string& type, const std::string& name,
                         const std::string& limits = "") {
  throw std::invalid_argument("the case needs " + type + " parameter `" + name + "`" + limits +
                              "; correct part.toml");
}

/// The parameter of that name, or none where it is missing or has another type.
template <typename T>
const T* find(const Values& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? nullptr : std::get_if<T>(&found->second);
}

}  // namespace

std::int64_t integer(const Values& parameters, const std::string& name, std::int64_t minimum) {
  const auto* value = find<std::int64_t>(parameters, name);
  if (value == nullptr || *value < minimum) {
    refuse("an integer", name, " of at least " + std::to_string(minimum));
  }
  return *value;
}

double real(const Values& parameters, const std::string& name) {
  const auto* value = find<double>(parameters, name);
  if (value == nullptr) refuse("a floating-point", name);
  return *value;
}

const std::string& text(const Values& parameters, const std::string& name) {
  const auto* value = find<std::string>(parameters, name);
  if (value == nullptr) refuse("a text", name);
  return *value;
}

bool judges_structure(const Values& parameters) {
  return parameters.contains("judges_structure") && integer(parameters, "judges_structure", 0) != 0;
}

double set_default(Values& parameters, const std::string& name, double fallback) {
  parameters.try_emplace(name, fallback);
  return real(parameters, name);
}

bool is_vast(const Values& parameters) { return parameters.contains("vast"); }

}  // namespace rooflab
