#include "labs/part2-roofline/oracle/inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace rooflab {
namespace {

constexpr std::int64_t kBlock = 65'537;
constexpr std::int64_t kMostCompared = std::int64_t{1} << 18;
constexpr std::size_t kEdge = 100;
constexpr int kSampled = 10'000;

template <typename T>
const T& parameter(const Values& parameters, const std::string& name, const char* type) {
  const auto found = parameters.find(name);
  const T* value = found == parameters.end() ? nullptr : std::get_if<T>(&found->second);
  if (value == nullptr) {
    throw std::invalid_argument(std::string("the case needs a parameter `") + name + "` of type " +
                                type + "; correct part.toml");
  }
  return *value;
}

}  // namespace

std::int64_t integer(const Values& parameters, const std::string& name, std::int64_t minimum) {
  const std::int64_t value = parameter<std::int64_t>(parameters, name, "integer");
  if (value < minimum) {
    throw std::invalid_argument("the case needs `" + name + "` of at least " +
                                std::to_string(minimum) + "; correct part.toml");
  }
  return value;
}

double real(const Values& parameters, const std::string& name) {
  return parameter<double>(parameters, name, "float");
}

const std::string& text(const Values& parameters, const std::string& name) {
  return parameter<std::string>(parameters, name, "string");
}

double uniform(Random& random, double low, double high) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  return static_cast<float>(low + (high - low) * unit);
}

Tensor drawn_input(const std::string& name, std::int64_t n, const std::function<double()>& draw) {
  std::vector<float> block(static_cast<std::size_t>(std::min(n, kBlock)));
  std::ranges::generate(block, [&] { return static_cast<float>(draw()); });
  return repeated_input(name, n, block);
}

Tensor repeated_input(const std::string& name, std::int64_t n, std::span<const float> values) {
  Tensor tensor{name, ElementType::float32, Role::input, {n}, {}};
  const std::span<const std::byte> block = std::as_bytes(values);
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  tensor.data.resize(bytes);
  for (std::size_t at = 0; at < bytes; at += block.size()) {
    std::memcpy(&tensor.data[at], block.data(), std::min(block.size(), bytes - at));
  }
  return tensor;
}

Tensor vector_output(const std::string& name, std::int64_t n) {
  return {name, ElementType::float32, Role::output, {n}, {}};
}

std::span<const float> floats(const Tensor& tensor) {
  // The allocator aligns the bytes for any fundamental type.
  return {reinterpret_cast<const float*>(tensor.data.data()), tensor.data.size() / sizeof(float)};
}

std::vector<std::size_t> compared_elements(std::int64_t n, std::uint64_t seed) {
  if (n <= kMostCompared) return {};
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < kEdge; ++i) {
    index.push_back(i);
    index.push_back(size - 1 - i);
  }
  Random random(seed);
  for (int i = 0; i < kSampled; ++i) index.push_back(random() % size);
  std::ranges::sort(index);
  const auto repeated = std::ranges::unique(index);
  index.erase(repeated.begin(), repeated.end());
  return index;
}

std::vector<std::size_t> listed(const std::vector<std::size_t>& index, std::int64_t n) {
  if (!index.empty()) return index;
  std::vector<std::size_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

double ulp(double value) {
  constexpr int kMantissaBits = 24;
  constexpr int kLeastExponent = -149;
  if (value == 0 || !std::isfinite(value)) return std::ldexp(1.0, kLeastExponent);
  const int exponent = std::ilogb(value) - (kMantissaBits - 1);
  return std::ldexp(1.0, std::max(exponent, kLeastExponent));
}

}  // namespace rooflab
