// An independent judge: where an input is not among what went into a value, another input leaves
// the value as it is, provided that all lanes go the same ways and access the same places.
#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>

#include "simgpu/exec/each_lane.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/random_programs/program.h"
#include "simgpu/exec/thread_block.h"
#include "simgpu/provenance/provenance_testing.h"

namespace simgpu::testing {
namespace {

/// Which ways lanes went, what they accessed and what they chose, as one number.
class Ways final : public StepObserver {
 public:
  explicit Ways(StepObserver* next = nullptr) : next_(next) {}
  std::uint64_t number() const { return number_; }

  void begin_launch(const LaunchContext& launch) override {
    kernel_ = &launch.kernel;
    if (next_ != nullptr) next_->begin_launch(launch);
  }
  void begin_block(std::uint64_t block) override {
    if (next_ != nullptr) next_->begin_block(block);
  }
  void before(const Lowered& in, const Warp& warp, std::uint32_t lanes) override {
    const InstructionInfo& info = kernel_->info.instructions[in.index];
    const std::string_view spelling = kernel_->spellings[in.index];
    add(in.index);
    add(std::uint64_t{warp.index} << 32 | lanes);
    if (spelling.starts_with("selp")) add(predicate(warp, in.c) & lanes);
    if (info.access_bytes > 0 && info.operands[0] != InstructionInfo::kNoRegister) {
      add_register(info.operands[0], warp, lanes);
    }
    if (spelling.starts_with("shfl")) {
      for (const std::size_t operand : {1U, 2U}) {
        if (info.operands[operand] != InstructionInfo::kNoRegister) {
          add_register(info.operands[operand], warp, lanes);
        }
      }
    }
    if (next_ != nullptr) next_->before(in, warp, lanes);
  }
  void after(const Lowered& in, const Warp& warp, std::uint32_t lanes) override {
    if (next_ != nullptr) next_->after(in, warp, lanes);
    // What a swap found decides whether it swapped.
    const InstructionInfo& info = kernel_->info.instructions[in.index];
    const bool swaps = kernel_->spellings[in.index].find(".cas.") != std::string::npos;
    if (swaps && !info.writes.empty()) add_register(info.writes[0], warp, lanes);
  }

 private:
  void add(std::uint64_t value) {
    number_ = (number_ ^ value) * 0x9E3779B97F4A7C15;
    number_ ^= number_ >> 32;
  }
  void add_register(std::uint32_t reg, const Warp& warp, std::uint32_t lanes) {
    const SlotRange slot = kernel_->registers[reg].slot;
    const std::size_t bytes = slot.bytes / kWarpSize;
    each_lane(lanes, [&](unsigned lane) {
      std::uint64_t value = 0;
      std::memcpy(&value, warp.regs + slot.offset + lane * bytes, bytes);
      add(value);
    });
  }

  StepObserver* next_;
  const LoweredKernel* kernel_ = nullptr;
  std::uint64_t number_ = 0;
};

/// A kernel with its arrays, one of which is the output.
struct Subject {
  struct Array {
    std::size_t element_bytes = 4;
    std::vector<std::byte> content;
  };
  std::string kernel;
  Launch launch;
  std::vector<Array> arrays;
  std::vector<std::uint64_t> scalars = {};
  std::size_t output = 0;
};

class Judge {
 public:
  Judge(Device& device, const Subject& subject) : device_(device), subject_(subject) {
    for (const Subject::Array& array : subject.arrays)
      addresses_.push_back(device.put(array.content));
    const Result first = run(&provenance_);
    ways_ = first.ways;
    output_ = first.output;
    restore();
  }

  /// Changes an element, and looks what becomes of the output. @returns whether lanes went the same
  /// ways, so that it says something
  bool change(std::size_t array, std::size_t element, std::mt19937_64& random) {
    const std::size_t bytes = subject_.arrays[array].element_bytes;
    std::vector<std::byte> other = subject_.arrays[array].content;
    // Of floats and halves the fraction.
    const std::size_t at_byte = bytes == 8 ? random() % 8 : bytes - 2;
    other[element * bytes + at_byte] ^= std::byte{static_cast<std::uint8_t>(random() % 127 + 1)};
    device_.memory().write(addresses_[array], other);
    const Result result = run(nullptr);
    restore();
    if (result.ways != ways_) return false;
    const std::uint64_t at = addresses_[array] + element * bytes;
    const std::size_t size = subject_.arrays[subject_.output].element_bytes;
    for (std::size_t i = 0; i < output_.size() / size; ++i) {
      if (std::memcmp(&output_[i * size], &result.output[i * size], size) == 0) continue;
      EXPECT_TRUE(has(i, at, bytes)) << subject_.kernel << ": element " << element << " of array "
                                     << array << " goes into output " << i;
      ++changes_;
    }
    return true;
  }
  std::size_t changes() const { return changes_; }

 private:
  struct Result {
    std::uint64_t ways = 0;
    std::vector<std::byte> output;
  };

  Result run(StepObserver* observer) {
    Ways ways(observer);
    const KernelInfo* info = find_kernel(device_.program(), subject_.kernel);
    std::vector<std::uint64_t> arguments = addresses_;
    arguments.insert(arguments.end(), subject_.scalars.begin(), subject_.scalars.end());
    arguments.resize(6);
    Launch launch = subject_.launch;
    launch.observer = &ways;
    const std::size_t count = info->parameter_offsets.size();
    LaunchResult result;
    const auto& a = arguments;
    if (count == 2) result = device_.run(subject_.kernel, launch, a[0], a[1]);
    if (count == 3) result = with_three(launch, *info, a);
    if (count == 4) {
      result = device_.run(subject_.kernel, launch, a[0], a[1], a[2], static_cast<int>(a[3]));
    }
    EXPECT_EQ(result.status, LaunchStatus::ok) << subject_.kernel;
    return {ways.number(), device_.get<std::byte>(addresses_[subject_.output],
                                                  subject_.arrays[subject_.output].content.size())};
  }
  LaunchResult with_three(const Launch& launch, const KernelInfo& info,
                          const std::vector<std::uint64_t>& a) {
    if (info.parameter_sizes[2] == 8) return device_.run(subject_.kernel, launch, a[0], a[1], a[2]);
    return device_.run(subject_.kernel, launch, a[0], a[1], static_cast<int>(a[2]));
  }

  void restore() {
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
      device_.memory().write(addresses_[i], subject_.arrays[i].content);
    }
  }
  bool has(std::size_t output, std::uint64_t address, std::size_t bytes) {
    const std::size_t size = subject_.arrays[subject_.output].element_bytes;
    const MemoryOrigin origin =
        provenance_.origin_of(addresses_[subject_.output] + output * size, size);
    return !origin.complete || std::ranges::any_of(origin.reads, [&](const OriginRead& read) {
      return read.address < address + bytes && address < read.address + read.bytes;
    });
  }

  Device& device_;
  const Subject& subject_;
  std::vector<std::uint64_t> addresses_;
  Provenance provenance_;
  std::uint64_t ways_ = 0;
  std::vector<std::byte> output_;
  std::size_t changes_ = 0;
};

template <class T>
Subject::Array array_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {sizeof(T), {bytes.begin(), bytes.end()}};
}

Subject::Array floats(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() % 1000) / 250 + 0.5F;
  return array_of(values);
}
/// Between 1 and 2, so that sums see changes of any of them.
Subject::Array halves(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint16_t> values(count);
  for (std::uint16_t& value : values)
    value = static_cast<std::uint16_t>(0x3C00 | (random() & 0x3FF));
  return array_of(values);
}

std::vector<Subject> subjects() {
  using Dim = Dim3;
  return {
      {"copy", {.grid = Dim{2, 1, 1}}, {floats(64, 1), floats(64, 2)}},
      {"tiled",
       {.grid = Dim{2, 2, 1}, .block = Dim{8, 8, 1}},
       {floats(256, 3), floats(256, 4), floats(256, 5)},
       {16}},
      {"warp_sums", {.grid = Dim{2, 1, 1}}, {floats(2, 6), floats(64, 7)}},
      {"segment_sums", {}, {floats(32, 8), floats(32, 9)}},
      {"atomic_sum", {.grid = Dim{2, 1, 1}}, {floats(1, 10), floats(64, 11)}},
      {"largest_by_swaps", {}, {floats(1, 12), floats(32, 13)}},
      {"larger_chosen", {}, {floats(32, 14), floats(32, 15), floats(32, 16)}},
      {"half_pairs", {}, {halves(64, 17), halves(64, 18), halves(64, 19)}},
      {"halves_swapped", {}, {halves(64, 20), halves(64, 21)}},
      {"halves_one_by_one", {}, {halves(32, 22), halves(32, 23)}},
      {"halves_widened", {}, {floats(256, 24), halves(256, 25)}},
      {"vectors", {}, {floats(128, 26), floats(128, 27)}},
      {"wmma_product", {}, {floats(256, 28), halves(512, 29), halves(512, 30)}, {32}},
      {"mma_product", {}, {floats(128, 31), halves(256, 32), halves(128, 33)}},
      {"copied_asynchronously", {}, {floats(32, 34), floats(128, 35)}},
      {"recursive", {}, {floats(32, 36), floats(33, 37)}},
  };
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(OriginsAreSound, OfKernelsThatAreKnown) {
  for (const Subject& subject : subjects()) {
    Device device = Device::with_test_kernels();
    Judge judge(device, subject);
    std::mt19937_64 random(7);
    std::size_t told = 0;
    for (std::size_t array = 0; array < subject.arrays.size(); ++array) {
      const std::size_t count =
          subject.arrays[array].content.size() / subject.arrays[array].element_bytes;
      for (int i = 0; i < 12; ++i) told += judge.change(array, random() % count, random) ? 1 : 0;
    }
    EXPECT_GT(told, 0U) << subject.kernel;
    EXPECT_GT(judge.changes(), 0U) << subject.kernel;
  }
}

TEST(OriginsAreSound, OfKernelsMadeAtRandom) {
  constexpr std::size_t kValues =
      random_programs::kTypes.size() * std::size_t{random_programs::kRegisters};
  std::size_t told = 0, changes = 0;
  const std::uint64_t first = number_from("SIMGPU_RANDOM_SEED", 1);
  const std::uint64_t end = first + number_from("SIMGPU_RANDOM_PROGRAMS", 60);
  for (std::uint64_t seed = first; seed < end && !::testing::Test::HasFailure(); ++seed) {
    const random_programs::Program program =
        random_programs::random_program(seed, "program_" + std::to_string(seed));
    SCOPED_TRACE(random_programs::text_of(program));
    const std::size_t values = std::size_t{program.threads} * program.blocks * kValues;
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> initial(values);
    for (std::size_t i = 0; i < values; ++i) {
      const char type = random_programs::kTypes[i % kValues / random_programs::kRegisters];
      const auto number = static_cast<std::int32_t>(static_cast<std::uint32_t>(random()));
      initial[i] = type == 'f'   ? std::bit_cast<std::uint32_t>(static_cast<float>(number) / 1000)
                   : type == 'g' ? std::bit_cast<std::uint64_t>(number / 1000.0)
                   : type == 'p' ? random() & 1
                   : type == 'r' ? static_cast<std::uint32_t>(number)
                                 : random();
    }
    Subject subject{program.name,
                    {.grid = {program.blocks, 1, 1}, .block = {program.threads, 1, 1}},
                    {array_of(initial), array_of(std::vector<std::uint64_t>(values)),
                     array_of(std::vector<std::uint32_t>(4096))}};
    subject.output = 1;
    Device device(random_programs::module_header() + random_programs::text_of(program));
    Judge judge(device, subject);
    for (int i = 0; i < 10; ++i) told += judge.change(0, random() % values, random) ? 1 : 0;
    changes += judge.changes();
  }
  std::printf("%zu changes of an input told something, of %zu outputs\n", told, changes);
  EXPECT_GT(told, (end - first) * 3);
  EXPECT_GT(changes, (end - first) * 3);
}

}  // namespace
}  // namespace simgpu::testing
