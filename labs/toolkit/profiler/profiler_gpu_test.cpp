#include "toolkit/profiler/profiler.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "toolkit/add.h"
#include "toolkit/profiler/category.h"
#include "toolkit/profiler/chrome_trace.h"
#include "toolkit/profiler/table.h"
#include "toolkit/testing/device_array.h"
#include "toolkit/testing/trace_rules.h"

namespace rooflab {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = ProfiledEvent::Kind;

/// The example of profiler.h, word for word: a test holds the two together.
void example(float* x, const float* y, std::int64_t count, cudaStream_t stream, const Gpu& gpu) {
  const Profile seen = profile([&] {
    const Range range("residual", {.flops = count, .bytes = 12 * count});
    add(x, y, count, stream);  // x += y: two floats read and one written
  });
  std::cout << table(seen, SortBy::cuda_total, 10);   // toolkit/profiler/table.h
  std::cout << utilisation_table(seen, gpu);          // likewise; gpu is of toolkit/cost.h
  std::ofstream("trace.json") << chrome_trace(seen);  // toolkit/profiler/chrome_trace.h
}

/// Whether `simgpu run` started this program: on a GPU nothing is modelled, and no kernel counted.
bool is_simulated() { return std::getenv("SIMGPU_FD") != nullptr; }

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Two vectors on the device and a stream.
class ProfilerTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kCount = 1 << 16;

  ProfilerTest() { CUDA_CHECK(cudaStreamCreate(&stream_)); }
  ~ProfilerTest() override { cudaStreamDestroy(stream_); }

  std::vector<const ProfiledEvent*> all(const Profile& profile, Kind kind) const {
    std::vector<const ProfiledEvent*> chosen;
    for (const ProfiledEvent& event : profile.events) {
      if (event.kind == kind) chosen.push_back(&event);
    }
    return chosen;
  }
  const ProfiledEvent& call_of(const Profile& profile, const ProfiledEvent& work) const {
    for (const ProfiledEvent& event : profile.events) {
      if (event.kind == Kind::api && event.correlation == work.correlation) return event;
    }
    throw std::runtime_error("no call issued " + work.name);
  }

  DeviceArray<float> x_{std::vector<float>(kCount, 1.0f)};
  DeviceArray<float> y_{std::vector<float>(kCount, 2.0f)};
  cudaStream_t stream_ = nullptr;
};

TEST_F(ProfilerTest, RecordsTheActiveIterationsAndNoOthers) {
  int runs = 0;
  const Profile seen = profile(
      [&] {
        ++runs;
        add(x_.data(), y_.data(), kCount, stream_);
      },
      {.wait = 2, .warmup = 1, .active = 3});
  EXPECT_EQ(runs, 6);
  EXPECT_EQ(seen.iterations, 3);
  EXPECT_EQ(seen.dropped, 0u);
  EXPECT_EQ(seen.modelled, is_simulated());
  cudaDeviceProp gpu;
  CUDA_CHECK(cudaGetDeviceProperties(&gpu, 0));
  EXPECT_THAT(seen.device.name, HasSubstr(gpu.name));
  EXPECT_THAT(all(seen, Kind::kernel), SizeIs(3));
  const auto ranges = all(seen, Kind::range);
  ASSERT_THAT(ranges, SizeIs(3));
  EXPECT_EQ(ranges[0]->name, "iteration 3");
  EXPECT_EQ(ranges[2]->name, "iteration 5");
}

TEST_F(ProfilerTest, KnowsWhereAKernelCameFromAndWhatItDid) {
  const Profile seen = profile([&] { add(x_.data(), y_.data(), kCount, stream_); });
  const auto kernels = all(seen, Kind::kernel);
  ASSERT_THAT(kernels, SizeIs(6));
  double end = 0;
  for (const ProfiledEvent* kernel : kernels) {
    EXPECT_THAT(kernel->name, HasSubstr("add"));
    EXPECT_GE(kernel->start_us, end - 1e-9) << "kernels of one stream follow one another";
    EXPECT_GT(kernel->duration_us, 0);
    end = kernel->start_us + kernel->duration_us;
    EXPECT_NE(kernel->stream, 0u);
    EXPECT_EQ(kernel->flops, is_simulated() ? kCount : 0);
    EXPECT_EQ(kernel->dram_bytes > 0, is_simulated());
    EXPECT_GT(kernel->registers_per_thread, 0u);
    EXPECT_GT(kernel->grid[0] * kernel->block[0], 0u);
    EXPECT_GT(kernel->occupancy, 0);
    EXPECT_LE(kernel->occupancy, 1);
    EXPECT_NEAR(kernel->warps_per_sm, kernel->blocks_per_sm * kernel->block[0] / 32, 1e-9);
    const ProfiledEvent& call = call_of(seen, *kernel);
    EXPECT_EQ(call.name, "cudaLaunchKernel");
    // On a GPU two clocks are compared.
    EXPECT_LE(call.start_us, kernel->start_us + (is_simulated() ? 0 : 100));
    ASSERT_NE(kernel->range, ProfiledEvent::kNoRange);
    EXPECT_THAT(seen.events[static_cast<std::size_t>(kernel->range)].name, HasSubstr("iteration"));
  }
}

TEST_F(ProfilerTest, RecordsCopiesMemsetsAndMemory) {
  std::vector<float> host(kCount);
  const Profile seen = profile(
      [&] {
        const Range range("scratch");
        float* scratch = nullptr;
        CUDA_CHECK(cudaMalloc(&scratch, 4096));
        CUDA_CHECK(cudaMemsetAsync(x_.data(), 0, 256, stream_));
        CUDA_CHECK(cudaMemcpy(host.data(), x_.data(), 1024, cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaFree(scratch));
      },
      {.wait = 0, .warmup = 0, .active = 1});
  const auto copies = all(seen, Kind::copy), memsets = all(seen, Kind::memset);
  ASSERT_THAT(copies, SizeIs(1));
  EXPECT_EQ(copies[0]->name, "Memcpy DtoH");
  EXPECT_EQ(copies[0]->bytes, 1024u);
  EXPECT_EQ(call_of(seen, *copies[0]).name, "cudaMemcpy");
  ASSERT_THAT(memsets, SizeIs(1));
  EXPECT_EQ(memsets[0]->bytes, 256u);
  EXPECT_EQ(call_of(seen, *memsets[0]).name, "cudaMemsetAsync");
  std::map<std::string, std::int64_t> memory;
  for (const TableRow& row : table_rows(seen, SortBy::name)) memory[row.name] = row.cuda_memory;
  EXPECT_EQ(memory.at("cudaMalloc"), 4096);
  EXPECT_EQ(memory.at("cudaFree"), -4096);
  EXPECT_EQ(memory.at("scratch"), 0);
}

TEST_F(ProfilerTest, RangesNestAndOwnWhatIsIssuedInThem) {
  const Profile seen = profile(
      [&] {
        const Range outer("outer");
        add(x_.data(), y_.data(), kCount, stream_);
        {
          const Range inner("inner", {.flops = kCount, .bytes = 12 * kCount});
          add(x_.data(), y_.data(), kCount, stream_);
        }
        add(x_.data(), y_.data(), kCount, stream_);
      },
      {.wait = 0, .warmup = 1, .active = 2});
  const auto kernels = all(seen, Kind::kernel);
  ASSERT_THAT(kernels, SizeIs(6));
  const auto range_of = [&](const ProfiledEvent& event) -> const ProfiledEvent& {
    return seen.events.at(static_cast<std::size_t>(event.range));
  };
  EXPECT_EQ(range_of(*kernels[0]).name, "outer");
  EXPECT_EQ(range_of(*kernels[1]).name, "inner");
  EXPECT_EQ(range_of(*kernels[2]).name, "outer");
  EXPECT_EQ(range_of(range_of(*kernels[1])).name, "outer");
  EXPECT_EQ(range_of(range_of(*kernels[0])).name, "iteration 1");
  bool found = false;
  for (const Utilisation& one : utilisations(seen)) {
    if (one.name != "inner") continue;
    found = true;
    EXPECT_EQ(one.calls, 2);
    EXPECT_EQ(one.theoretical_flops, 2 * kCount);
    EXPECT_EQ(one.counted_flops, is_simulated() ? 2 * kCount : 0);
  }
  EXPECT_TRUE(found);
}

TEST_F(ProfilerTest, WritesATraceThatKeepsTheRules) {
  const Profile seen = profile([&] {
    const Range range("step");
    add(x_.data(), y_.data(), kCount, stream_);
    add(x_.data(), y_.data(), kCount, nullptr);
    CUDA_CHECK(cudaMemsetAsync(x_.data(), 0, 1024, stream_));
  });
  const std::string text = chrome_trace(seen);
  EXPECT_THAT(TraceRules::faults(text), IsEmpty());
  std::size_t arrows = 0;
  const nlohmann::json document = nlohmann::json::parse(text);
  for (const auto& event : document.at("traceEvents")) {
    if (event.at("ph") == "s") ++arrows;
  }
  constexpr std::size_t kWork = 6 * 3;
  if (is_simulated()) {
    EXPECT_EQ(arrows, kWork) << "one for each piece of work";
  } else {
    EXPECT_LE(arrows, kWork) << "none that would go backwards by the GPU's clock";
  }
  EXPECT_EQ(count_kernels(seen).elementwise, 12);
  EXPECT_EQ(count_kernels(seen).memory, 6);
}

TEST_F(ProfilerTest, CanEndBeforeItsScheduleDoes) {
  Profiler profiler({.wait = 0, .warmup = 1, .active = 100});
  for (int i = 0; i < 3; ++i) {
    add(x_.data(), y_.data(), kCount, stream_);
    profiler.step();
  }
  const Profile seen = profiler.finish();
  EXPECT_EQ(seen.iterations, 2);
  EXPECT_THAT(all(seen, Kind::kernel), SizeIs(2));
}

TEST_F(ProfilerTest, IgnoresWhatComesAfterItsSchedule) {
  Profiler profiler({.wait = 0, .warmup = 0, .active = 2});
  for (int i = 0; i < 5; ++i) {
    add(x_.data(), y_.data(), kCount, stream_);
    profiler.step();
  }
  EXPECT_THAT(all(profiler.finish(), Kind::kernel), SizeIs(2));
}

TEST_F(ProfilerTest, SaysWhatIsWrongWithItsUse) {
  EXPECT_THROW(Profiler({.wait = -1}), std::invalid_argument);
  EXPECT_THROW(Profiler({.active = 0}), std::invalid_argument);
  {
    Profiler first;
    EXPECT_THROW(Profiler second, std::logic_error);
    first.step();
    try {
      first.finish();
      FAIL() << "nothing was recorded";
    } catch (const std::logic_error& error) {
      EXPECT_THAT(error.what(), HasSubstr("before iteration 5"));
    }
  }
  EXPECT_EQ(profile([&] { add(x_.data(), y_.data(), kCount, stream_); }).iterations, 6)
      << "the first one is gone, so there is room for another";
}

TEST_F(ProfilerTest, SurvivesWorkThatThrows) {
  EXPECT_THROW(profile([] { throw std::runtime_error("no"); }), std::runtime_error);
  const Profile after = profile([] {});
  EXPECT_THAT(all(after, Kind::range), SizeIs(6)) << "its iterations, and none of what threw";
  EXPECT_THAT(all(after, Kind::kernel), IsEmpty());
  if (is_simulated()) {  // CUPTI may tell calls that it makes itself
    EXPECT_THAT(after.events, SizeIs(6 + 1)) << "the wait at the end";
  }
}

TEST(RangeTest, IsNothingWhileNobodyProfiles) {
  const Range range("alone", {.flops = 1});
  SUCCEED();
}

TEST_F(ProfilerTest, RunsTheExampleOfItsHeader) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("profiler_example_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  ::testing::internal::CaptureStdout();
  example(x_.data(), y_.data(), kCount, stream_,
          {.flops_per_second = 19.5e12, .bytes_per_second = 1555e9});
  const std::string shown = ::testing::internal::GetCapturedStdout();
  std::filesystem::current_path(before);
  EXPECT_THAT(shown, HasSubstr("residual"));
  EXPECT_THAT(shown, HasSubstr("of bandwidth"));
  EXPECT_THAT(TraceRules::faults(text_of(folder / "trace.json")), IsEmpty());
  std::filesystem::remove_all(folder);
}

TEST(Example, IsWhatTheHeaderShows) {
  const char* root = std::getenv("ROOFLAB_ROOT");
  const std::string folder =
      std::string(root == nullptr ? ROOFLAB_SOURCE_DIR : root) + "/labs/toolkit/profiler/";
  std::istringstream header(text_of(folder + "profiler.h"));
  const std::string program = text_of(folder + "profiler_gpu_test.cpp");
  bool inside = false;
  int lines = 0;
  for (std::string line; std::getline(header, line);) {
    if (line == "/// @endcode") inside = false;
    if (inside) {
      ++lines;
      EXPECT_NE(program.find("  " + line.substr(4) + "\n"), std::string::npos) << line;
    }
    if (line == "/// @code") inside = true;
  }
  EXPECT_GT(lines, 5);
}

}  // namespace
}  // namespace rooflab
