#include "grader/reactions/changed_values.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "grader/contract/elements.h"

namespace rooflab {
namespace {

/// Rounds to nearest, ties to even, by halves of the last kept bit.
std::uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

/// The largest pattern whose value is no larger, or the one behind it, whichever is nearer.
/// Patterns of numbers that are not negative are in their order.
std::uint16_t half_bits(double value) {
  constexpr std::uint16_t kInfinity = 0x7C00;
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
  const double size = std::abs(value);
  if (std::isnan(value)) return sign | kInfinity | 0x200U;
  if (size >= 65520) return sign | kInfinity;
  std::uint16_t low = 0, high = kInfinity;
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (float_from_half_bits(middle) <= size ? low : high) = middle;
  }
  const double below = float_from_half_bits(low);
  const double above = high == kInfinity ? 65536 : double{float_from_half_bits(high)};
  const bool is_above =
      above - size < size - below || (above - size == size - below && (low & 1U) != 0);
  return sign | (is_above ? high : low);
}

template <class T>
void put(std::span<std::byte> bytes, std::size_t index, T value) {
  if ((index + 1) * sizeof value > bytes.size()) throw std::out_of_range("element of a tensor");
  std::memcpy(bytes.data() + index * sizeof value, &value, sizeof value);
}

}  // namespace

bool is_floating(ElementType type) { return type != ElementType::int32; }

bool is_changeable(const Tensor& tensor) {
  return tensor.role != Role::output && is_floating(tensor.type) && !tensor.data.empty() &&
         tensor.data.size() == tensor.bytes();
}

void put_element(ElementType type, std::span<std::byte> bytes, std::size_t index, double value) {
  switch (type) {
    case ElementType::float32:
      return put(bytes, index, static_cast<float>(value));
    case ElementType::float64:
      return put(bytes, index, value);
    case ElementType::float16:
      return put(bytes, index, half_bits(value));
    case ElementType::bfloat16:
      return put(bytes, index, bfloat16_bits(static_cast<float>(value)));
    case ElementType::int32:
      break;
  }
  throw std::invalid_argument("an integer is no value to change");
}

void change_elements(Tensor& tensor,
                     const std::function<double(std::size_t index, double value)>& change) {
  const auto count = static_cast<std::size_t>(tensor.elements());
  for (std::size_t i = 0; i < count; ++i) {
    put_element(tensor.type, tensor.data, i, change(i, element_at(tensor.type, tensor.data, i)));
  }
}

void move_elements(Tensor& tensor, const std::function<std::int64_t(std::int64_t)>& source) {
  const std::vector<std::byte> before = tensor.data;
  const std::size_t size = size_of(tensor.type);
  const std::int64_t count = tensor.elements();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t from = source(i);
    std::byte* const to = tensor.data.data() + static_cast<std::size_t>(i) * size;
    if (from < 0 || from >= count) {
      std::memset(to, 0, size);
    } else {
      std::memcpy(to, before.data() + static_cast<std::size_t>(from) * size, size);
    }
  }
}

}  // namespace rooflab
