#include "vector_add.h"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "grader/contract/guest_call.h"

namespace {

// The oracle draws the same numbers from the same seed. They are eighths, so that sums are exact.
std::vector<float> numbers(int n, std::minstd_rand& random) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& value : values) value = (static_cast<float>(random() % 2001) - 1000.0f) / 8;
  return values;
}

// Eight digits for the bits of each float.
std::string text_of(const std::vector<float>& values) {
  std::string text;
  for (const float value : values) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", std::bit_cast<std::uint32_t>(value));
    text += digits;
  }
  return text;
}

}  // namespace

ROOFLAB_ENTRY(vector_add) {
  const int n = static_cast<int>(call.integer("n"));
  std::minstd_rand random(static_cast<std::uint32_t>(call.integer("seed")));
  const std::vector<float> a = numbers(n, random), b = numbers(n, random);
  std::vector<float> given_a = a, given_b = b;
  std::vector<float> c(a.size(), std::numeric_limits<float>::quiet_NaN());
  vector_add(given_a.data(), given_b.data(), c.data(), n);
  call.result("c", text_of(c));
  call.result("inputs changed", std::int64_t{given_a != a || given_b != b});
}
