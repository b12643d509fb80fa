#include "labs/oracle_support/tensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <stdexcept>

#include "grader/contract/elements.h"
#include "labs/oracle_support/large_vector.h"
#include "labs/oracle_support/parameters.h"

namespace rooflab {
namespace {

/// Round to nearest, ties to even; a quiet NaN stays one.
std::uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
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

/// The bytes of `count` values, each made a T by `convert`.
template <typename T, typename Convert>
std::vector<std::byte> bytes_of(std::int64_t count, const std::function<double()>& draw,
                                const Convert& convert) {
  std::vector<std::byte> bytes =
      large_vector<std::byte>(static_cast<std::size_t>(count) * sizeof(T));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    const T value = convert(draw());
    std::memcpy(&bytes[at], &value, sizeof(T));
  }
  return bytes;
}

/// The tensor with what `set` makes of one in sixty of its elements, at least one.
template <typename Set>
Tensor with_some(Tensor tensor, Random& random, const Set& set) {
  constexpr std::size_t kElementsForOne = 60;
  const std::size_t size = size_of(tensor.type);
  const std::size_t count = tensor.data.size() / size;
  for (std::size_t i = 0; i < count / kElementsForOne + 1; ++i) {
    set(std::span(tensor.data).subspan(random() % count * size, size));
  }
  return tensor;
}

}  // namespace

ElementType storage_type(const Values& parameters) {
  const std::string& type = text(parameters, "type");
  if (type == "float") return ElementType::float32;
  if (type == "half") return ElementType::float16;
  if (type == "bf16") return ElementType::bfloat16;
  throw std::invalid_argument(
      "the parameter `type` must be \"float\", \"half\" or \"bf16\", not \"" + type +
      "\"; correct part.toml");
}

std::vector<double> normal_values(std::int64_t count, double deviation, Random& random) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::ranges::generate(values, [&] { return deviation * about_normal(random); });
  return values;
}

Tensor drawn(const std::string& name, ElementType type, Role role, std::vector<std::int64_t> shape,
             const std::function<double()>& draw) {
  Tensor tensor{name, type, role, std::move(shape), {}};
  const std::int64_t count = tensor.elements();
  if (type == ElementType::float32) {
    tensor.data =
        bytes_of<float>(count, draw, [](double value) { return static_cast<float>(value); });
  } else if (type == ElementType::bfloat16) {
    tensor.data = bytes_of<std::uint16_t>(
        count, draw, [](double value) { return bfloat16_bits(static_cast<float>(value)); });
  } else if (type == ElementType::float16) {
    tensor.data = bytes_of<_Float16>(
        count, draw, [](double value) { return static_cast<_Float16>(static_cast<float>(value)); });
  } else if (type == ElementType::int32) {
    tensor.data = bytes_of<std::int32_t>(
        count, draw, [](double value) { return static_cast<std::int32_t>(value); });
  } else {
    throw std::invalid_argument("`" + name + "`: inputs are float32, float16, bfloat16 or int32");
  }
  return tensor;
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

Tensor with_negative_zeros(Tensor tensor, Random& random) {
  return with_some(std::move(tensor), random, [](std::span<std::byte> element) {
    constexpr std::byte kSign{0x80};
    std::ranges::fill(element, std::byte{0});
    element.back() = kSign;  // little-endian, as both sides are
  });
}

Tensor with_nans(Tensor tensor, Random& random) {
  return with_some(std::move(tensor), random, [&](std::span<std::byte> element) {
    constexpr std::uint32_t kQuietNan = 0x7FC0'0000;
    constexpr std::uint32_t kSign = 0x8000'0000;
    constexpr std::uint32_t kPayloads = 0x3E;  // of bfloat16's six bits neither none nor all
    const auto high = static_cast<std::uint32_t>(1 + random() % kPayloads) << 16;
    const auto low = static_cast<std::uint32_t>(random() & 0xFFFF);
    const std::uint32_t bits = kQuietNan | (random() % 2 == 0 ? kSign : 0) | high | low;
    const auto bytes = std::bit_cast<std::array<std::byte, sizeof bits>>(bits);
    std::copy_n(bytes.end() - static_cast<std::ptrdiff_t>(element.size()), element.size(),
                element.begin());  // bfloat16 is the upper half
  });
}

Tensor output(const std::string& name, ElementType type, std::vector<std::int64_t> shape) {
  return {name, type, Role::output, std::move(shape), {}};
}

Tensor repeated(Tensor tensor, std::int64_t count) {
  tensor.shape = {count};
  return tensor;
}

Tensor in_whole_pages(Tensor tensor) {
  constexpr std::size_t kPage = 4096;
  tensor.data.resize((tensor.data.size() + kPage - 1) / kPage * kPage);
  return tensor;
}

std::vector<double> widened(const Tensor& tensor, const std::vector<std::size_t>& elements) {
  const std::size_t there = tensor.data.size() / size_of(tensor.type);
  std::vector<double> values;
  values.reserve(elements.size());
  for (const std::size_t element : elements) {
    values.push_back(element_at(tensor.type, tensor.data, element % there));
  }
  return values;
}

const Tensor& tensor(const Problem& problem, const std::string& name) {
  const auto found = std::ranges::find(problem.tensors, name, &Tensor::name);
  if (found == problem.tensors.end()) throw std::out_of_range("no tensor " + name);
  return *found;
}

std::span<const float> floats(const Tensor& tensor) {
  // The allocator aligns the bytes for any fundamental type.
  return {reinterpret_cast<const float*>(tensor.data.data()), tensor.data.size() / sizeof(float)};
}

std::vector<double> widened(const Tensor& tensor) {
  auto values = large_vector<double>(static_cast<std::size_t>(tensor.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = element_at(tensor.type, tensor.data, i);
  }
  return values;
}

std::vector<double> widened(const Problem& problem, const std::string& name) {
  return widened(tensor(problem, name));
}

}  // namespace rooflab
