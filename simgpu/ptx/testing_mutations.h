#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

/// The same damaged inputs in every run, for readers of untrusted bytes.
namespace simgpu::testing {

/// One random change: a bit flipped, a byte replaced, a piece cut, doubled or moved from another
/// seed.
inline void mutate(std::string& bytes, const std::string& other, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
  const std::size_t at = below(bytes.size());
  const std::size_t length = below(std::min<std::size_t>(bytes.size() - at, 64)) + 1;
  switch (bytes.empty() ? 4 : below(7)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      break;
    case 1:
      bytes[at] = static_cast<char>(random());
      break;
    case 2:
      bytes.erase(at, length);
      break;
    case 3:
      bytes.insert(at, bytes.substr(at, length));
      break;
    case 4:
      bytes.insert(at, other.substr(below(other.size()), length));
      break;
    case 5:
      bytes[at] = static_cast<char>(below(2) == 0 ? 0xFF : 0x00);
      break;
    default:
      std::swap(bytes[at], bytes[below(bytes.size())]);
  }
}

/// Calls the target with `count` inputs, each a seed with one to eight changes.
inline void for_each_mutation(const std::vector<std::string>& seeds, unsigned count,
                              const std::function<void(const std::string&)>& target) {
  std::mt19937 random(20240607);  // NOLINT(bugprone-random-generator-seed): the same in every run
  for (unsigned round = 0; round < count; ++round) {
    std::string bytes = seeds[random() % seeds.size()];
    const std::string& other = seeds[random() % seeds.size()];
    for (auto changes = random() % 8 + 1; changes > 0; --changes) mutate(bytes, other, random);
    target(bytes);
  }
}

}  // namespace simgpu::testing
