// Runs a fuzzer's entry where there is no libFuzzer, with the same options: the seeds of the named
// folders as they are, then -runs=N changes of them, the same in every run with the same -seed=S.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/ptx/testing_mutations.h"

extern "C" {
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
__attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                          std::size_t most, unsigned seed);

/// What a custom mutator asks libFuzzer for.
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
  static std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same in every run
  std::string bytes(reinterpret_cast<const char*>(data), size);
  simgpu::testing::mutate(bytes, bytes, random);
  bytes.resize(std::min(bytes.size(), most));
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
}

namespace {

std::vector<std::string> read_seeds(const std::vector<std::filesystem::path>& places) {
  std::vector<std::filesystem::path> files;
  for (const auto& place : places) {
    if (!std::filesystem::is_directory(place)) files.push_back(place);
    if (!std::filesystem::is_directory(place)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(place)) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());  // directories have no order of their own
  std::vector<std::string> seeds;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return seeds;
}

void feed(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string random_bytes(std::mt19937& random) {
  std::string bytes(random() % 1024, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

std::string changed(std::string bytes, const std::string& other, std::mt19937& random) {
  constexpr std::size_t kMost = 1U << 16;
  for (auto changes = random() % 8 + 1; changes > 0; --changes) {
    if (LLVMFuzzerCustomMutator == nullptr) {
      simgpu::testing::mutate(bytes, other, random);
      continue;
    }
    const std::size_t size = std::min(bytes.size(), kMost);
    bytes.resize(kMost);
    bytes.resize(LLVMFuzzerCustomMutator(reinterpret_cast<std::uint8_t*>(bytes.data()), size, kMost,
                                         static_cast<unsigned>(random())));
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view kRuns = "-runs=", kSeed = "-seed=";
  unsigned long runs = 0, seed = 1;
  std::vector<std::filesystem::path> places;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(kRuns)) {
      runs = std::strtoul(argv[i] + kRuns.size(), nullptr, 10);
    } else if (argument.starts_with(kSeed)) {
      seed = std::strtoul(argv[i] + kSeed.size(), nullptr, 10);
    } else if (!argument.starts_with('-')) {
      places.emplace_back(argument);
    }
  }
  const std::vector<std::string> seeds = read_seeds(places);
  for (const std::string& bytes : seeds) feed(bytes);
  std::mt19937 random(static_cast<unsigned>(seed));
  for (unsigned long i = 0; i < runs; ++i) {
    if (seeds.empty()) {
      feed(changed(random_bytes(random), {}, random));
      continue;
    }
    const std::string& from = seeds[random() % seeds.size()];
    feed(changed(from, seeds[random() % seeds.size()], random));
  }
  std::printf("%zu seeds and %lu changed inputs\n", seeds.size(), runs);
}
