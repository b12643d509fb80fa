#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rooflab {

/// What all inputs of a grade are drawn from: 128 bits, which nobody finds by trying.
struct Seed {
  constexpr Seed(std::uint64_t number = 0) : low(number) {}
  constexpr Seed(std::uint64_t upper, std::uint64_t lower) : high(upper), low(lower) {}
  bool operator==(const Seed&) const = default;

  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

/// As it can be typed again: a number below 2^64 in decimal, any other as 0x and 32 hexadecimal
/// digits.
std::string text_of(const Seed& seed);

/// @throws std::invalid_argument saying what a seed looks like
Seed seed_of(std::string_view text);

}  // namespace rooflab
