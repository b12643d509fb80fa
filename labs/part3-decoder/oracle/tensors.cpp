#include "labs/part3-decoder/oracle/tensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "grader/contract/elements.h"

namespace rooflab {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& name) {
  throw std::invalid_argument("the case needs " + what + " `" + name + "`; correct part.toml");
}

const Value* find(const Values& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? nullptr : &found->second;
}

/// Round to nearest, ties to even; a quiet NaN stays one.
std::uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

/// The bytes of `values`, each made a T by `convert`.
template <typename T, typename Convert>
std::vector<std::byte> bytes_of(const std::vector<double>& values, const Convert& convert) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = convert(values[i]);
    std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
  }
  return bytes;
}

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

std::int64_t integer(const Values& parameters, const std::string& name, std::int64_t minimum) {
  const Value* found = find(parameters, name);
  const auto* value = found == nullptr ? nullptr : std::get_if<std::int64_t>(found);
  if (value == nullptr || *value < minimum) {
    refuse("an integer of at least " + std::to_string(minimum) + " as the parameter", name);
  }
  return *value;
}

double real(const Values& parameters, const std::string& name) {
  const Value* found = find(parameters, name);
  const auto* value = found == nullptr ? nullptr : std::get_if<double>(found);
  if (value == nullptr) refuse("a number with a decimal point as the parameter", name);
  return *value;
}

const std::string& text(const Values& parameters, const std::string& name) {
  const Value* found = find(parameters, name);
  const auto* value = found == nullptr ? nullptr : std::get_if<std::string>(found);
  if (value == nullptr) refuse("a text as the parameter", name);
  return *value;
}

double set_default(Values& parameters, const std::string& name, double fallback) {
  parameters.try_emplace(name, fallback);
  return real(parameters, name);
}

ElementType storage_type(const Values& parameters) {
  const std::string& type = text(parameters, "type");
  if (type == "float") return ElementType::float32;
  if (type == "bf16") return ElementType::bfloat16;
  refuse("\"float\" or \"bf16\" as the parameter", "type");
}

std::vector<double> normal_values(std::int64_t count, double deviation, Random& random) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::ranges::generate(values, [&] { return deviation * about_normal(random); });
  return values;
}

Tensor filled(const std::string& name, ElementType type, Role role, std::vector<std::int64_t> shape,
              const std::vector<double>& values) {
  Tensor tensor{name, type, role, std::move(shape), {}};
  if (type == ElementType::bfloat16) {
    tensor.data = bytes_of<std::uint16_t>(
        values, [](double value) { return bfloat16_bits(static_cast<float>(value)); });
  } else if (type == ElementType::int32) {
    tensor.data = bytes_of<std::int32_t>(
        values, [](double value) { return static_cast<std::int32_t>(value); });
  } else {
    tensor.data = bytes_of<float>(values, [](double value) { return static_cast<float>(value); });
  }
  return tensor;
}

Tensor random_tensor(const std::string& name, ElementType type, Role role,
                     std::vector<std::int64_t> shape, double deviation, Random& random) {
  const std::int64_t count = Tensor{name, type, role, shape, {}}.elements();
  return filled(name, type, role, std::move(shape), normal_values(count, deviation, random));
}

Tensor output(const std::string& name, ElementType type, std::vector<std::int64_t> shape) {
  return {name, type, Role::output, std::move(shape), {}};
}

Tensor consecutive(const std::string& name, std::int64_t first, std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(first + i));
  return filled(name, ElementType::int32, Role::input, {count}, values);
}

const Tensor& tensor(const Problem& problem, const std::string& name) {
  const auto found = std::ranges::find(problem.tensors, name, &Tensor::name);
  if (found == problem.tensors.end()) throw std::out_of_range("no tensor " + name);
  return *found;
}

std::vector<double> widened(const Problem& problem, const std::string& name) {
  const Tensor& from = tensor(problem, name);
  std::vector<double> values(static_cast<std::size_t>(from.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = element_at(from.type, from.data, i);
  }
  return values;
}

}  // namespace rooflab
