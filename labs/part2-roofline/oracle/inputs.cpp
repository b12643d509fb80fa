#include "labs/part2-roofline/oracle/inputs.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace rooflab {
namespace {

constexpr std::int64_t kBlock = 65'537;
constexpr std::int64_t kMostCompared = std::int64_t{1} << 18;
constexpr std::size_t kEdge = 100;
constexpr int kSampled = 10'000;

}  // namespace

double uniform(Random& random, double low, double high) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  return static_cast<float>(low + (high - low) * unit);
}

Tensor drawn_input(const std::string& name, std::int64_t n, const std::function<double()>& draw) {
  const Tensor block = drawn(name, ElementType::float32, Role::input, {std::min(n, kBlock)}, draw);
  return repeated_input(name, n, floats(block));
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
  return output(name, ElementType::float32, {n});
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

}  // namespace rooflab
