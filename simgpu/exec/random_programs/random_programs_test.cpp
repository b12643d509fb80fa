#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>

#include "simgpu/exec/engine_testing.h"
#include "simgpu/exec/random_programs/program.h"

// Kernels made at random: with and without checkers, on one worker and on several, they do the
// same, and each thread computes what the host's arithmetic says.
namespace simgpu::random_programs {
namespace {

constexpr std::size_t kValues = kTypes.size() * kRegisters;
constexpr unsigned kPrograms = 240;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::vector<Bits> initial_values(std::size_t threads, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Bits> values(threads * kValues);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Bits word = random();
    switch (kTypes[i % kValues / kRegisters]) {
      case 'r':
        values[i] = word % 4 == 0 ? word >> 40 : word & 0xFFFFFFFF;
        break;
      case 'd':
        values[i] = word;
        break;
      case 'f':
        values[i] = word % 4 == 0
                        ? word >> 32
                        : std::bit_cast<std::uint32_t>(
                              static_cast<float>(static_cast<std::int32_t>(word >> 32)) / 1000);
        break;
      case 'g':
        values[i] =
            word % 4 == 0
                ? word
                : std::bit_cast<Bits>(static_cast<double>(static_cast<std::int64_t>(word)) / 1e15);
        break;
      default:
        values[i] = word & 1;
    }
  }
  return values;
}

bool equal(Type type, Bits a, Bits b) {
  if (type == 'f') {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(a));
    const auto y = std::bit_cast<float>(static_cast<std::uint32_t>(b));
    if (std::isnan(x) && std::isnan(y)) return true;
  }
  if (type == 'g' && std::isnan(std::bit_cast<double>(a)) && std::isnan(std::bit_cast<double>(b))) {
    return true;
  }
  return a == b;
}

/// Launches one program on memory of its own; what is left of it goes with the object.
struct Execution {
  Execution(testing::Device& device, const Program& program, const std::vector<Bits>& initial,
            unsigned workers, bool checkers) {
    const std::uint64_t in = device.put(initial);
    const std::uint64_t out = device.put(std::vector<Bits>(initial.size()));
    const std::uint64_t scratch = device.put(std::vector<std::uint32_t>(4096));
    testing::Launch launch;
    launch.grid = {program.blocks, 1, 1};
    launch.block = {program.threads, 1, 1};
    launch.workers = workers;
    launch.checkers = checkers;
    result = device.run(program.name, launch, in, out, scratch);
    values = device.get<Bits>(out, initial.size());
    words = device.get<std::uint32_t>(scratch, 4096);
    for (const std::uint64_t address : {in, out, scratch}) device.memory().release(address);
  }
  LaunchResult result;
  std::vector<Bits> values;
  std::vector<std::uint32_t> words;
};

void expect_threads_right(const Program& program, const std::vector<Bits>& initial,
                          const std::vector<Bits>& values) {
  for (std::size_t thread = 0; thread < initial.size() / kValues; ++thread) {
    Registers registers;
    const auto copy = [&](const auto& each) {
      std::size_t place = thread * kValues;
      for (auto& type : registers.of_type) {
        for (Bits& value : type) each(value, place++);
      }
    };
    copy([&](Bits& value, std::size_t place) { value = initial[place]; });
    evaluate(program, registers);
    bool right = true;
    copy([&](Bits& value, std::size_t place) {
      const Type type = kTypes[place % kValues / kRegisters];
      if (equal(type, value, values[place]) || !right) return;
      right = false;
      ADD_FAILURE() << "thread " << thread << ", register " << type << place % kRegisters << " is "
                    << std::hex << values[place] << ", not " << value;
    });
    if (!right) return;
  }
}

void check(testing::Device& device, const Program& program, std::uint64_t seed) {
  SCOPED_TRACE("SIMGPU_RANDOM_SEED=" + std::to_string(seed) +
               " SIMGPU_RANDOM_PROGRAMS=1 repeats it\n" + text_of(program));
  const std::vector<Bits> initial =
      initial_values(std::size_t{program.threads} * program.blocks, seed);
  const Execution one(device, program, initial, 1, false);
  // Blocks that ask an atomic for work may be run by turns, but only where no checkers watch: they
  // then get other answers, which are right, too.
  const Execution other(device, program, initial, 3, !one.result.asked_for_work);
  ASSERT_EQ(one.result.status, LaunchStatus::ok);
  ASSERT_TRUE(one.result.findings.empty()) << one.result.findings.front().message;
  EXPECT_EQ(other.result.status, LaunchStatus::ok);
  EXPECT_TRUE(one.result.counters == other.result.counters);
  EXPECT_TRUE(one.result.executed == other.result.executed);
  EXPECT_EQ(one.values, other.values);
  EXPECT_EQ(one.words, other.words);
  if (program.touches_others) return;
  EXPECT_TRUE(other.result.findings.empty()) << other.result.findings.front().message;
  expect_threads_right(program, initial, one.values);
}

TEST(RandomPrograms, DoTheSameHoweverTheyAreRun) {
  const std::uint64_t first = number_from("SIMGPU_RANDOM_SEED", 1);
  const std::uint64_t end = first + number_from("SIMGPU_RANDOM_PROGRAMS", kPrograms);
  for (std::uint64_t seed = first; seed < end && !HasFailure(); ++seed) {
    const Program program = random_program(seed, "program_" + std::to_string(seed));
    testing::Device device(module_header() + text_of(program));
    check(device, program, seed);
  }
}

}  // namespace
}  // namespace simgpu::random_programs
