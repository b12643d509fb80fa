#include "grader/pipeline/seeds.h"

#include <random>

namespace rooflab {
namespace {

/// The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014): every bit of the input changes each bit of the output with probability one
/// half.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

std::uint64_t mix_text(std::uint64_t hash, const std::string& text) {
  for (const char character : text) hash = mix(hash ^ static_cast<unsigned char>(character));
  return mix(hash ^ (std::uint64_t{text.size()} << 32));
}

}  // namespace

std::uint64_t fresh_seed() {
  std::random_device device;
  return device();
}

std::uint64_t case_seed(std::uint64_t seed, int part, const std::string& task,
                        const std::string& name) {
  std::uint64_t hash = mix(seed);
  hash = mix(hash ^ static_cast<std::uint64_t>(part));
  return mix_text(mix_text(hash, task), name);
}

}  // namespace rooflab
