#include "vector_add.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "grader/contract/guest_call.h"
#include "guest_support/guarded_array.h"

namespace {

// The oracle draws the same numbers from the same seed. They are eighths, so that sums are exact.
std::vector<float> numbers(int n, std::minstd_rand& random) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& value : values) value = (static_cast<float>(random() % 2001) - 1000.0f) / 8;
  return values;
}

// Eight digits for the bits of each float.
std::string text_of(std::span<const float> values) {
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
  const std::vector<float> nothing(a.size(), std::numeric_limits<float>::quiet_NaN());
  rooflab::GuardedArray given_a(a), given_b(b), c(nothing);
  vector_add(given_a.data(), given_b.data(), c.data(), n);
  const bool changed =
      !std::ranges::equal(given_a.values(), a) || !std::ranges::equal(given_b.values(), b);
  call.result("c", text_of(c.values()));
  call.result("inputs changed", std::int64_t{changed});
}
