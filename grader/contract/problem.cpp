#include "grader/contract/problem.h"

#include <array>
#include <charconv>
#include <cmath>

namespace rooflab {

std::string text_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&value)) return '"' + *text + '"';
  const double real = std::get<double>(value);
  if (std::isnan(real)) return "NaN";  // its sign means nothing
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), real,
                                 std::chars_format::general, 10);
  return {digits.data(), end.ptr};
}

std::string text_of(const Values& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += (text.empty() ? "" : ", ") + name + " = " + text_of(value);
  }
  return text;
}

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::float32:
    case ElementType::int32:
      return 4;
    case ElementType::float64:
      return 8;
    case ElementType::float16:
    case ElementType::bfloat16:
      return 2;
  }
  return 0;
}

std::int64_t Tensor::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::size_t Tensor::bytes() const { return static_cast<std::size_t>(elements()) * size_of(type); }

}  // namespace rooflab
