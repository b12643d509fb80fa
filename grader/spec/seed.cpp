#include "grader/spec/seed.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

namespace rooflab {
namespace {

constexpr std::size_t kDigits = 16;  ///< hexadecimal ones of one half

/// Whether all of `text` is a number of that base that fits.
bool read(std::string_view text, int base, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string text_of(const Seed& seed) {
  return seed.high == 0 ? fmt::format("{}", seed.low)
                        : fmt::format("0x{:016x}{:016x}", seed.high, seed.low);
}

Seed seed_of(std::string_view text) {
  Seed seed;
  const bool hexadecimal = text.starts_with("0x") && text.size() <= 2 + 2 * kDigits;
  if (!hexadecimal) {
    if (read(text, 10, seed.low)) return seed;
  } else {
    const std::string_view digits = text.substr(2);
    const std::size_t low = std::min(digits.size(), kDigits);
    const std::string_view high = digits.substr(0, digits.size() - low);
    if (read(digits.substr(high.size()), 16, seed.low) &&
        (high.empty() || read(high, 16, seed.high))) {
      return seed;
    }
  }
  throw std::invalid_argument(
      "a seed is a whole number from 0 to 18446744073709551615, or 0x and up to 32 hexadecimal "
      "digits");
}

}  // namespace rooflab
