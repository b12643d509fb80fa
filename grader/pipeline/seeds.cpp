#include "grader/pipeline/seeds.h"

#include <fmt/format.h>

#include <array>
#include <random>

#include "grader/spec/keyed_hash.h"

namespace rooflab {
namespace {

/// 64 bits of a digest, from byte `at` on.
std::uint64_t word(const Digest& digest, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = at; i < at + 8; ++i) value = value << 8 | digest[i];
  return value;
}

Digest keyed_by(const Seed& seed, const std::string& text) {
  std::array<std::uint8_t, 16> key{};
  for (std::size_t i = 0; i < 8; ++i) {
    key[i] = static_cast<std::uint8_t>(seed.high >> (56 - 8 * i));
    key[8 + i] = static_cast<std::uint8_t>(seed.low >> (56 - 8 * i));
  }
  return keyed_hash(key, text);
}

}  // namespace

Seed fresh_seed() {
  std::random_device device;
  const auto word = [&device] { return std::uint64_t{device()} << 32 | device(); };
  const std::uint64_t high = word();
  return {high, word()};
}

CaseSeeds case_seeds(const Seed& seed, int part, const std::string& task, const std::string& draw) {
  // Lengths keep "a", "bc" and "ab", "c" apart.
  const Digest digest = keyed_by(
      seed, fmt::format("case {} {} {} {} {}", part, task.size(), task, draw.size(), draw));
  return {.inputs = word(digest, 0), .selection = word(digest, 8), .blocks = word(digest, 16)};
}

Seed seed_of_source(const Seed& of_class, const std::string& source) {
  const Digest digest = keyed_by(of_class, "source " + source);
  return {word(digest, 0), word(digest, 8)};
}

}  // namespace rooflab
