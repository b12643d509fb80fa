#include "labs/oracle_support/parameters.h"

#include <cmath>
#include <stdexcept>

#include "labs/oracle_support/random.h"

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

double draw_default(Values& parameters, const std::string& name, double low, double high,
                    std::uint64_t seed) {
  // FNV-1a tells names apart, and the generator makes of such seeds what looks unrelated.
  std::uint64_t key = seed ^ 0xcbf29ce484222325;
  for (const char letter : name) key = (key ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  const double share = static_cast<double>(Random(key)() >> 11) * 0x1p-53;
  const double number = low * std::pow(high / low, share);  // every power of two is as likely
  return set_default(parameters, name, static_cast<float>(number));
}

double draw_attention_scale(Values& parameters, const std::string& name, std::int64_t head_dim,
                            std::uint64_t seed) {
  const double usual = 1 / std::sqrt(static_cast<double>(head_dim));
  return draw_default(parameters, name, 1.25 * usual, 2 * usual, seed);
}

bool is_vast(const Values& parameters) { return parameters.contains("vast"); }

}  // namespace rooflab
