#include "simgpu/device/known_launches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "simgpu/cublas/blas_request.h"
#include "simgpu/device/activity_wire.h"
#include "simgpu/device/blas_operation.h"
#include "simgpu/device/device.h"

// Launches of sampled runs that need not execute, and those that must.
namespace simgpu::known_launches_test {
namespace {

constexpr std::uint32_t kThreads = 256, kBlocks = 1024;  // enough to be sampled
constexpr std::uint64_t kArrayBytes = std::uint64_t{kThreads} * kBlocks * sizeof(double);
constexpr int kTurns = 100;

std::vector<std::byte> module_text() {
  std::ifstream file(SIMGPU_REPEATS_PTX);
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const auto bytes = std::as_bytes(std::span(all));
  return {bytes.begin(), bytes.end()};
}

/// A program's calls on a device of its own.
class Program {
 public:
  explicit Program(const DeviceOptions& options)
      : device_(gpu_spec::load(std::string(ROOFLAB_SOURCE_DIR) + "/specs/gpus/a100.toml"),
                options) {
    module_ = load();
  }

  Device& device() { return device_; }
  std::uint64_t module() const { return module_; }

  std::uint64_t load() {
    std::uint64_t handle = 0;
    EXPECT_EQ(device_.modules().load(module_text(), &handle), CudaError::success);
    return handle;
  }

  /// Without content.
  std::uint64_t allocate(std::uint64_t bytes = kArrayBytes) {
    std::uint64_t address = 0;
    EXPECT_EQ(device_.allocations().allocate(bytes, &address), CudaError::success);
    return address;
  }
  /// Full of ones (fp32).
  std::uint64_t array() {
    const std::uint64_t address = allocate();
    fill(address, 0x3F800000U);
    return address;
  }
  void fill(std::uint64_t address, std::uint32_t value, std::uint64_t bytes = kArrayBytes) {
    const protocol::FillRequest request{.address = address,
                                        .pitch = bytes,
                                        .width = bytes,
                                        .height = 1,
                                        .value = value,
                                        .element_bytes = 4};
    EXPECT_EQ(device_.copies().fill(request), CudaError::success);
  }
  void upload(std::uint64_t address, int value) {
    const protocol::CopyRequest request{
        .address = address, .pitch = sizeof value, .width = sizeof value, .height = 1};
    EXPECT_EQ(device_.copies().begin(request, true), CudaError::success);
    device_.copies().write_packed(request, 0, std::as_bytes(std::span(&value, 1)));
  }
  void copy(std::uint64_t to, std::uint64_t from) {
    const protocol::DeviceCopyRequest request{.destination = to,
                                              .destination_pitch = kArrayBytes,
                                              .source = from,
                                              .source_pitch = kArrayBytes,
                                              .width = kArrayBytes,
                                              .height = 1};
    EXPECT_EQ(device_.copies().copy_on_device(request), CudaError::success);
  }
  std::uint64_t symbol(const char* name) {
    return device_.modules().find(module_)->symbols.at(name).address;
  }

  template <typename... Parameters>
  void launch(const char* kernel, Parameters... parameters) {
    launch_grid(module_, {kBlocks, 1, 1}, kernel, parameters...);
  }
  /// A launch of many blocks that leaves most of the GPU to others.
  template <typename... Parameters>
  void launch_on(std::uint64_t stream, const char* kernel, Parameters... parameters) {
    stream_ = stream;
    threads_ = 32;
    launch_grid(module_, {256, 1, 1}, kernel, parameters...);
    stream_ = 0;
    threads_ = kThreads;
  }
  template <typename... Parameters>
  void launch_grid(std::uint64_t module, Dim3 grid, const char* kernel, Parameters... parameters) {
    const LoadedModule& loaded = *device_.modules().find(module);
    const int index = loaded.kernel_index(kernel);
    ASSERT_GE(index, 0) << kernel;
    const KernelInfo& info =
        *device_.modules().find_kernel(module, static_cast<std::size_t>(index))->info;
    std::vector<std::byte> bytes(info.parameter_bytes);
    std::size_t next = 0;
    (std::memcpy(&bytes.at(info.parameter_offsets.at(next++)), &parameters, sizeof parameters),
     ...);
    const protocol::LaunchMessage message{.module = module,
                                          .kernel = static_cast<std::uint64_t>(index),
                                          .stream = stream_,
                                          .grid = grid,
                                          .block = {threads_, 1, 1}};
    EXPECT_EQ(device_.launches().launch(message, bytes), CudaError::success);
  }

  /// y = 2 x + y
  void axpy(std::uint64_t x, std::uint64_t y) {
    wire::Writer request, answer;
    request.put(blas::Request{
        .routine = blas::Routine::axpy, .n = 1000, .ldb = 1, .ldc = 1, .b = x, .c = y, .alpha = 2});
    wire::Reader reader(request.bytes());
    EXPECT_EQ(blas_operation(device_, reader, answer), CudaError::success);
  }

  /// Everything that can be seen of the device: its records, and what is in memory.
  std::vector<std::byte> outcome() {
    std::vector<std::byte> all = encode(device_.collect());
    for (const Allocation& allocation : device_.memory().live_allocations()) {
      std::vector<std::byte> bytes(allocation.bytes);
      EXPECT_TRUE(device_.memory().read(allocation.base, bytes));
      all.insert(all.end(), bytes.begin(), bytes.end());
      const std::uint8_t* shadow = device_.memory().shadow(allocation.base);
      const auto initialized = std::as_bytes(std::span(shadow, allocation.bytes / 8));
      all.insert(all.end(), initialized.begin(), initialized.end());
    }
    return all;
  }

 private:
  Device device_;
  std::uint64_t module_ = 0;
  std::uint64_t stream_ = 0;  ///< of launches
  std::uint32_t threads_ = kThreads;
};

using Script = std::function<void(Program&)>;

/// How many of the script's launches did not execute. Nothing else may tell that they did not.
std::uint64_t repeats(const Script& script,
                      DeviceOptions options = {.workers = 2, .checkers = false, .sampled = true}) {
  Program program(options);
  script(program);
  options.execute_repeats = true;
  Program patient(options);
  script(patient);
  EXPECT_EQ(patient.device().launches().repeats(), 0U);
  EXPECT_TRUE(program.outcome() == patient.outcome()) << "repeats show";
  return program.device().launches().repeats();
}

/// Two equal launches, and something between them.
Script twice(const std::function<void(Program&, std::uint64_t in, std::uint64_t out)>& between) {
  return [between](Program& program) {
    const std::uint64_t in = program.array(), out = program.array();
    program.launch("work_on", in, out, kTurns);
    between(program, in, out);
    program.launch("work_on", in, out, kTurns);
  };
}

TEST(RepeatedLaunch, DoesNotExecuteAgain) {
  EXPECT_EQ(repeats([](Program& program) {
              const std::uint64_t in = program.array(), out = program.array();
              for (int i = 0; i < 5; ++i) program.launch("work_on", in, out, kTurns);
              const Activity activity = program.device().collect();
              ASSERT_EQ(activity.kernels.size(), 5U);
              for (const KernelRecord& kernel : activity.kernels) {
                EXPECT_TRUE(kernel.sampled);
                EXPECT_EQ(kernel.sampled_blocks, activity.kernels[0].sampled_blocks);
                EXPECT_EQ(kernel.time.total_us, activity.kernels[0].time.total_us);
              }
              EXPECT_GT(activity.kernels[4].start_us, activity.kernels[3].start_us);
            }),
            4U);
}

TEST(RepeatedLaunch, MayHaveOthersBetween) {
  EXPECT_EQ(repeats([](Program& program) {
              const std::uint64_t a = program.array(), b = program.array(), c = program.array();
              const std::uint64_t other = program.array();
              for (int i = 0; i < 3; ++i) {
                program.launch("work_on", a, b, kTurns);
                program.launch("work_on", b, c, kTurns);
                program.fill(other, 7);
                // A grid that is too small to be sampled.
                program.launch_grid(program.module(), {1, 1, 1}, "work_on", a, other, kTurns);
                program.axpy(a, other);
              }
            }),
            4U)
      << "two of each of the large launches";
}

TEST(RepeatedLaunch, ExecutesWithOtherParameters) {
  EXPECT_EQ(
      repeats([](Program& program) {
        const std::uint64_t in = program.array(), out = program.array();
        program.launch("work_on", in, out, kTurns);
        program.launch("work_on", in, out, kTurns + 1);
        program.launch_grid(program.module(), {kBlocks / 2, 1, 1}, "work_on", in, out, kTurns);
        program.launch("work_on", in, program.array(), kTurns);
        program.launch_grid(program.load(), {kBlocks, 1, 1}, "work_on", in, out, kTurns);
        EXPECT_EQ(program.device().launches().set_stack_bytes(4096), CudaError::success);
        program.launch("work_on", in, out, kTurns);
      }),
      0U);
}

TEST(RepeatedLaunch, ExecutesOnceItsInputHasChanged) {
  const auto changed = [](const std::function<void(Program&, std::uint64_t)>& change) {
    return repeats(twice(
        [change](Program& program, std::uint64_t in, std::uint64_t) { change(program, in); }));
  };
  EXPECT_EQ(changed([](Program&, std::uint64_t) {}), 1U);
  EXPECT_EQ(changed([](Program& program, std::uint64_t in) { program.upload(in, 5); }), 0U);
  EXPECT_EQ(
      changed([](Program& program, std::uint64_t in) { program.fill(in + kArrayBytes - 4, 0, 4); }),
      0U);
  EXPECT_EQ(changed([](Program& program, std::uint64_t in) { program.copy(in, program.array()); }),
            0U);
  EXPECT_EQ(changed([](Program& program, std::uint64_t in) {
              program.launch("work_on", program.array(), in, kTurns);
            }),
            0U);
  EXPECT_EQ(changed([](Program& program, std::uint64_t in) {
              program.launch_grid(program.module(), {1, 1, 1}, "work_in_place", in, kTurns);
            }),
            0U);
  EXPECT_EQ(changed([](Program& program, std::uint64_t in) { program.axpy(program.array(), in); }),
            0U);
  EXPECT_EQ(changed([](Program& program, std::uint64_t in) {
              const std::array<std::byte, 4> bytes{};
              EXPECT_TRUE(program.device().memory().write(in, bytes));
            }),
            0U);
  EXPECT_EQ(changed([](Program& program, std::uint64_t in) {
              program.device().memory().mark_uninitialized(in, 4);
            }),
            0U);
}

TEST(RepeatedLaunch, ExecutesOnceItsOutputHasChanged) {
  EXPECT_EQ(repeats(twice(
                [](Program& program, std::uint64_t, std::uint64_t out) { program.fill(out, 0); })),
            0U);
  EXPECT_EQ(repeats(twice([](Program& program, std::uint64_t in, std::uint64_t out) {
              program.launch("work_on", in, out, kTurns + 1);
            })),
            0U);
}

TEST(RepeatedLaunch, ExecutesOnMemoryThatWasFreedMeanwhile) {
  // So large that the address space has to be used again.
  constexpr std::uint64_t kLarge = std::uint64_t{30} << 30;
  std::uint64_t first = 0, again = 0;
  EXPECT_EQ(repeats([&](Program& program) {
              const std::uint64_t in = program.array();
              first = program.allocate(kLarge);
              program.launch("work_on", in, first, kTurns);
              std::uint64_t out = first;
              for (int i = 0; i < 40 && (i == 0 || out != first); ++i) {
                EXPECT_EQ(program.device().allocations().release(out), CudaError::success);
                out = program.allocate(kLarge);
              }
              again = out;
              program.launch("work_on", in, out, kTurns);
              EXPECT_EQ(program.device().allocations().release(out), CudaError::success);
            }),
            0U);
  EXPECT_EQ(first, again);
}

TEST(RepeatedLaunch, ExecutesInPlace) {
  EXPECT_EQ(repeats([](Program& program) {
              const std::uint64_t data = program.array();
              for (int i = 0; i < 3; ++i) program.launch("work_in_place", data, kTurns);
              for (int i = 0; i < 3; ++i) program.launch("work_on", data, data, kTurns);
            }),
            0U);
}

TEST(RepeatedLaunch, ExecutesOnceDataTellsOfOtherWork) {
  const Script as_told = [](Program& program) {
    const std::uint64_t turns = program.allocate(4), in = program.array(), out = program.array();
    for (const int count : {kTurns, 2 * kTurns}) {
      program.upload(turns, count);
      program.launch("work_as_told", turns, in, out);
      program.launch("work_as_told", turns, in, out);
    }
    const Activity activity = program.device().collect();
    EXPECT_GT(activity.kernels.at(2).counters.warp_instructions,
              activity.kernels.at(1).counters.warp_instructions);
  };
  EXPECT_EQ(repeats(as_told), 2U);
  for (const auto& [kernel, symbol] : {std::pair{"work_as_constant_tells", "constant_turns"},
                                       {"work_as_variable_tells", "device_turns"}}) {
    EXPECT_EQ(repeats([&](Program& program) {
                const std::uint64_t in = program.array(), out = program.array();
                for (const int count : {kTurns, 2 * kTurns}) {
                  program.upload(program.symbol(symbol), count);
                  program.launch(kernel, in, out);
                  program.launch(kernel, in, out);
                }
                const Activity activity = program.device().collect();
                EXPECT_GT(activity.kernels.at(2).counters.warp_instructions,
                          activity.kernels.at(1).counters.warp_instructions);
              }),
              2U)
        << kernel;
  }
}

TEST(RepeatedLaunch, ExecutesIfItDoesMoreThanStore) {
  EXPECT_EQ(repeats([](Program& program) {
              const std::uint64_t in = program.array(), out = program.array();
              const std::uint64_t count = program.allocate(4);
              program.fill(count, 0, 4);
              for (int i = 0; i < 2; ++i) {
                program.launch("work_from_now", in, out, kTurns);
                program.launch("work_and_say", in, out, kTurns);
                program.launch("work_and_count", in, out, count, kTurns);
              }
              const Activity activity = program.device().collect();
              EXPECT_TRUE(activity.kernels.at(0).sampled);
              EXPECT_EQ(activity.printed, "done\ndone\n");
            }),
            0U);
}

/// Three launches of a grid that is too small to be sampled.
Script small_grid(const char* kernel) {
  return [kernel](Program& program) {
    const std::uint64_t in = program.array(), out = program.array();
    for (int i = 0; i < 3; ++i) {
      program.launch_grid(program.module(), {63, 1, 1}, kernel, in, out, kTurns);
    }
  };
}

TEST(RepeatedLaunch, DoesNotExecuteAgainThoughItsGridWasTooSmallToBeSampled) {
  EXPECT_EQ(repeats(small_grid("work_on")), 2U);
  EXPECT_EQ(repeats(small_grid("work_from_now")), 0U);
  EXPECT_EQ(repeats(small_grid("work_and_say")), 0U);
  EXPECT_EQ(repeats([](Program& program) {
              const std::uint64_t data = program.array();
              for (int i = 0; i < 3; ++i) {
                program.launch_grid(program.module(), {63, 1, 1}, "work_in_place", data, kTurns);
              }
            }),
            0U);
}

TEST(RepeatedLaunch, ExecutesWhereNoneMayBeSampled) {
  EXPECT_EQ(repeats(twice([](Program&, std::uint64_t, std::uint64_t) {}),
                    {.workers = 2, .checkers = false}),
            0U);
}

TEST(RepeatedLaunch, ExecutesIfSomethingIsWrong) {
  const DeviceOptions checked{.workers = 2, .checkers = true, .sampled = true};
  const auto three_times = [&](const std::function<std::uint64_t(Program&)>& input) {
    return repeats(
        [input](Program& program) {
          const std::uint64_t in = input(program), out = program.array();
          for (int i = 0; i < 3; ++i) program.launch("work_on", in, out, kTurns);
        },
        checked);
  };
  EXPECT_EQ(three_times([](Program& program) { return program.array(); }), 2U);
  EXPECT_EQ(three_times([](Program& program) { return program.allocate(); }), 0U)
      << "what was never written is read";
}

TEST(RepeatedLaunch, ExecutesOnceCheckersAreTurnedOff) {
  EXPECT_EQ(repeats(twice([](Program& program, std::uint64_t, std::uint64_t) {
                      program.device().set_checkers(false);
                    }),
                    {.workers = 2, .checkers = true, .sampled = true}),
            0U);
}

TEST(RepeatedLaunch, TakesTheTimeOfItsPlaceInAGraph) {
  EXPECT_EQ(repeats([](Program& program) {
              const std::uint64_t in = program.array(), out = program.array();
              program.launch("work_on", in, out, kTurns);
              program.device().streams().begin_node(program.device().timeline().now(), true, {});
              program.launch("work_on", in, out, kTurns);
              program.device().streams().end_node();
              const Activity activity = program.device().collect();
              EXPECT_LT(activity.kernels.at(1).time.total_us, activity.kernels.at(0).time.total_us);
            }),
            1U);
}

TEST(RepeatedLaunch, IsForgottenAfterManyOthers) {
  EXPECT_EQ(repeats([](Program& program) {
              constexpr std::uint64_t kApart = 128;
              const std::uint64_t in = program.array(), out = program.array();
              const std::uint64_t last = in + kApart * KnownLaunches::kMost;
              for (std::uint64_t from = in; from <= last; from += kApart) {
                program.launch("work_in_vain", from, out, kTurns);
              }
              program.launch("work_in_vain", last, out, kTurns);
              program.launch("work_in_vain", in, out, kTurns);
            }),
            1U);
}

/// When the second of two launches on two streams starts, over the time of the first.
class LaunchesOnTwoStreams : public ::testing::TestWithParam<bool> {
 protected:
  double start_of_second(std::uint64_t first_to, std::uint64_t second_from,
                         std::uint64_t second_to) {
    program_.device().mark();
    constexpr int kManyTurns = 4000;
    program_.launch_on(one_, "work_on", in_, first_to, kManyTurns);
    program_.launch_on(other_, "work_on", second_from, second_to, kManyTurns);
    const Activity activity = program_.device().collect();
    EXPECT_EQ(activity.kernels.at(0).sampled, GetParam());
    return (activity.kernels.at(1).start_us - activity.kernels.at(0).start_us) /
           activity.kernels.at(0).time.total_us;
  }

  Program program_{{.workers = 2, .checkers = false, .sampled = GetParam()}};
  std::uint64_t one_ = program_.device().timeline().create_stream(true, 0);
  std::uint64_t other_ = program_.device().timeline().create_stream(true, 0);
  std::uint64_t in_ = program_.array(), out_ = program_.array(), end_ = program_.array();
};

TEST_P(LaunchesOnTwoStreams, OverlapWhereTheyWriteDifferentPlaces) {
  EXPECT_LT(start_of_second(out_, in_, end_), 0.5);
  // Each writes a quarter of an array that may belong to both.
  EXPECT_LT(start_of_second(out_, in_, out_ + kArrayBytes / 2), 0.5);
}

TEST_P(LaunchesOnTwoStreams, TakeTheTimeOfAnOrderThatTheyNeedAndDoNotHave) {
  EXPECT_GE(start_of_second(out_, out_, end_), 1 - 1e-9) << "reads what the first one writes";
  EXPECT_GE(start_of_second(out_, in_, out_), 1 - 1e-9) << "writes the same";
  EXPECT_GE(start_of_second(out_, end_, in_), 1 - 1e-9) << "writes what the first one reads";
}

INSTANTIATE_TEST_SUITE_P(InFullAndSampled, LaunchesOnTwoStreams, ::testing::Bool());

TEST(SampledLaunch, DoesNotSettleWhatItMayTakeFromEarlierWorkOfTheCall) {
  Program program({.workers = 2, .checkers = false, .sampled = true});
  const std::uint64_t in = program.array(), data = program.array();
  const auto settles_after_mark = [&](const std::function<void()>& call) {
    program.device().mark();
    call();
    const Activity activity = program.device().collect();
    EXPECT_TRUE(activity.kernels.back().sampled);
    return !program.device().since_mark().settled.of_grid.empty();
  };
  EXPECT_TRUE(settles_after_mark([&] { program.launch("work_in_place", data, kTurns); }));
  EXPECT_FALSE(settles_after_mark([&] {
    program.fill(data, 7, kArrayBytes / 2);
    program.launch("work_in_place", data, kTurns);
  }));
  EXPECT_TRUE(settles_after_mark([&] {
    program.fill(data, 7);
    program.launch("work_on", in, data, kTurns);
  })) << "nothing of what was there is read";
}

}  // namespace
}  // namespace simgpu::known_launches_test
