#include "labs/part1-metrics/oracle/tensors.h"

#include <array>
#include <bit>
#include <stdexcept>

#include "grader/contract/elements.h"

namespace rooflab {
namespace {

/// The middle of one of 2^24 equal pieces of (-1, 1): never zero, exact in float32.
float signed_unit(Random& random) {
  constexpr int kBits = 23;
  const std::uint64_t bits = random();
  const auto magnitude = static_cast<float>(bits >> (64 - kBits));
  const float value = (magnitude + 0.5F) * 0x1p-23F;
  return (bits & 1) != 0 ? -value : value;
}

/// Round to nearest, ties to even. @pre value is finite
std::uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

template <typename T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

}  // namespace

std::int64_t integer(const Values& parameters, const std::string& name, std::int64_t minimum) {
  const auto found = parameters.find(name);
  const auto* value =
      found == parameters.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  if (value == nullptr || *value < minimum) {
    throw std::invalid_argument("the case needs an integer parameter `" + name + "` of at least " +
                                std::to_string(minimum) + "; correct part.toml");
  }
  return *value;
}

Tensor random_input(const std::string& name, ElementType type, std::vector<std::int64_t> shape,
                    Random& random) {
  Tensor tensor{name, type, Role::input, std::move(shape), {}};
  const std::int64_t count = tensor.elements();
  tensor.data.reserve(static_cast<std::size_t>(count) * size_of(type));
  for (std::int64_t i = 0; i < count; ++i) {
    if (type == ElementType::bfloat16) {
      append(tensor.data, bfloat16_bits(signed_unit(random)));
    } else {
      append(tensor.data, signed_unit(random));
    }
  }
  return tensor;
}

Tensor output(const std::string& name, std::vector<std::int64_t> shape) {
  return {name, ElementType::float32, Role::output, std::move(shape), {}};
}

std::span<const float> floats(const Tensor& tensor) {
  // The allocator aligns the bytes for any fundamental type.
  return {reinterpret_cast<const float*>(tensor.data.data()), tensor.data.size() / sizeof(float)};
}

std::vector<double> widened(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = element_at(tensor.type, tensor.data, i);
  }
  return values;
}

}  // namespace rooflab
