#include "labs/part3-decoder/oracle/tensors.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace rooflab {
namespace {

/// The sum of four uniform numbers, scaled to variance 1: close enough to normal, and it takes one
/// draw, which matters for caches of millions of elements.
double about_normal(Random& random) {
  constexpr double kSteps = 65536;
  const std::uint64_t bits = random();
  std::uint64_t sum = 0;
  for (int piece = 0; piece < 4; ++piece) sum += (bits >> (16 * piece)) & 0xFFFF;
  // Each piece is uniform over 0 … 65535: mean 65535 / 2, variance 65536^2 / 12.
  return (static_cast<double>(sum) - 2 * (kSteps - 1)) / (kSteps * std::sqrt(4.0 / 12.0));
}

}  // namespace

double set_default(Values& parameters, const std::string& name, double fallback) {
  parameters.try_emplace(name, fallback);
  return real(parameters, name);
}

ElementType storage_type(const Values& parameters) {
  const std::string& type = text(parameters, "type");
  if (type == "float") return ElementType::float32;
  if (type == "bf16") return ElementType::bfloat16;
  throw std::invalid_argument("the parameter `type` must be \"float\" or \"bf16\", not \"" + type +
                              "\"; correct part.toml");
}

std::vector<double> normal_values(std::int64_t count, double deviation, Random& random) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::ranges::generate(values, [&] { return deviation * about_normal(random); });
  return values;
}

Tensor filled(const std::string& name, ElementType type, Role role, std::vector<std::int64_t> shape,
              const std::vector<double>& values) {
  std::size_t next = 0;
  return drawn(name, type, role, std::move(shape), [&] { return values.at(next++); });
}

Tensor random_tensor(const std::string& name, ElementType type, Role role,
                     std::vector<std::int64_t> shape, double deviation, Random& random) {
  return drawn(name, type, role, std::move(shape),
               [&] { return deviation * about_normal(random); });
}

Tensor consecutive(const std::string& name, std::int64_t first, std::int64_t count) {
  return drawn(name, ElementType::int32, Role::input, {count},
               [next = first]() mutable { return static_cast<double>(next++); });
}

std::vector<double> widened(const Problem& problem, const std::string& name) {
  return widened(tensor(problem, name));
}

}  // namespace rooflab
