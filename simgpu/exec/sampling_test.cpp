#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "simgpu/exec/engine.h"
#include "simgpu/model/time_model.h"
#include "simgpu/ptx/parser.h"

/// A sampled launch tells the counters and the time that the whole launch has.
namespace simgpu {
namespace {

constexpr double kTolerance = 0.01;

struct Shape {
  const char* kernel;
  Dim3 grid, block;
  std::vector<std::uint64_t> megabytes{};  ///< of the arrays that are the first parameters
  std::vector<int> numbers{};              ///< the parameters after them
  std::uint32_t shared = 0;
  bool sampled = true;  ///< whether it can be
};

struct Outcome {
  LaunchResult result;
  TimeBreakdown time;
  double seconds = 0;
};

class SampledLaunch : public ::testing::TestWithParam<const char*> {
 protected:
  SampledLaunch()
      : gpu_(gpu_spec::load(std::filesystem::path(SIMGPU_SPECIFICATIONS) /
                            (std::string(GetParam()) + ".toml"))) {
    std::ifstream file(SIMGPU_SAMPLING_PTX);
    std::stringstream text;
    text << file.rdbuf();
    program_ = lower(ptx::parse(text.str()), {});
  }

  Outcome run(const Shape& shape, bool sampled, unsigned workers = 2) {
    DeviceMemory memory(std::uint64_t{4} << 30);
    const KernelInfo& info = *find_kernel(*program_, shape.kernel);
    std::vector<std::byte> parameters(info.parameter_bytes);
    std::size_t next = 0;
    for (const std::uint64_t megabytes : shape.megabytes) {
      const std::uint64_t address = memory.allocate(megabytes << 20, "array").value();
      std::memcpy(&parameters[info.parameter_offsets[next++]], &address, sizeof address);
    }
    for (const int value : shape.numbers) {
      std::memcpy(&parameters[info.parameter_offsets[next++]], &value, sizeof value);
    }
    const LaunchShape occupied{.grid = shape.grid,
                               .block = shape.block,
                               .registers_per_thread = 32,
                               .static_shared_bytes = info.static_shared_bytes,
                               .dynamic_shared_bytes = shape.shared};
    LaunchRequest request;
    request.kernel = shape.kernel;
    request.grid = shape.grid;
    request.block = shape.block;
    request.dynamic_shared_bytes = shape.shared;
    request.parameters = parameters;
    const std::uint64_t per_sm = occupancy(occupied, gpu_).blocks_per_sm;
    request.resident_blocks = per_sm * static_cast<std::uint64_t>(gpu_.sm_count);
    request.l1_bytes_per_block = static_cast<std::uint64_t>(gpu_.l1_bytes_per_sm) / 2 / per_sm;
    const auto begin = std::chrono::steady_clock::now();
    Outcome outcome;
    outcome.result = execute(*program_, request, memory, gpu_,
                             {.workers = workers, .checkers = false, .sampled = sampled});
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    outcome.seconds = spent.count();
    outcome.time = predict_time(outcome.result.counters, occupied, info.instructions,
                                outcome.result.executed, gpu_);
    return outcome;
  }

  void expect_told_from_samples(const Shape& shape) {
    SCOPED_TRACE(shape.kernel);
    const Outcome whole = run(shape, false);
    const Outcome sampled = run(shape, true);
    ASSERT_EQ(whole.result.status, LaunchStatus::ok);
    ASSERT_EQ(sampled.result.status, LaunchStatus::ok);
    EXPECT_EQ(whole.result.sampled_blocks, 0U);
    EXPECT_EQ(sampled.result.sampled_blocks != 0, shape.sampled);
    expect_near(whole.result.counters, sampled.result.counters);
    for (const auto& [term, time] : whole.time.terms) {
      EXPECT_NEAR(sampled.time.terms.at(term), time, kTolerance * time) << term;
    }
    EXPECT_NEAR(sampled.time.total_us, whole.time.total_us, kTolerance * whole.time.total_us);
    EXPECT_EQ(sampled.time.limiter, whole.time.limiter);
    std::printf("%-14s %-6s %8llu of %8llu blocks, %7.3f s for %7.3f s, time off by %+.3f %%\n",
                shape.kernel, GetParam(),
                static_cast<unsigned long long>(sampled.result.sampled_blocks),
                static_cast<unsigned long long>(shape.grid.count()), sampled.seconds, whole.seconds,
                100 * (sampled.time.total_us / whole.time.total_us - 1));
  }

  static void expect_near(const KernelCounters& whole, const KernelCounters& sampled) {
    const auto near = [](const char* what, std::uint64_t a, std::uint64_t b) {
      EXPECT_NEAR(static_cast<double>(b), static_cast<double>(a),
                  kTolerance * static_cast<double>(a))
          << what;
    };
    EXPECT_EQ(sampled.warp_instructions, whole.warp_instructions);
    EXPECT_EQ(sampled.thread_instructions, whole.thread_instructions);
    EXPECT_EQ(sampled.instructions_by_class, whole.instructions_by_class);
    EXPECT_EQ(sampled.flops, whole.flops);
    EXPECT_EQ(sampled.global_load_requests, whole.global_load_requests);
    EXPECT_EQ(sampled.global_load_sectors, whole.global_load_sectors);
    EXPECT_EQ(sampled.global_load_bytes, whole.global_load_bytes);
    EXPECT_EQ(sampled.global_store_bytes, whole.global_store_bytes);
    EXPECT_EQ(sampled.l1_hit_sectors, whole.l1_hit_sectors);
    EXPECT_EQ(sampled.l1_tag_lookups, whole.l1_tag_lookups);
    EXPECT_EQ(sampled.l2_read_sectors, whole.l2_read_sectors);
    EXPECT_EQ(sampled.l2_write_sectors, whole.l2_write_sectors);
    EXPECT_EQ(sampled.shared_load_wavefronts, whole.shared_load_wavefronts);
    EXPECT_EQ(sampled.shared_store_wavefronts, whole.shared_store_wavefronts);
    near("L2 hits", whole.l2_hit_sectors + whole.dram_read_bytes / 32,
         sampled.l2_hit_sectors + sampled.dram_read_bytes / 32);
    near("DRAM reads", whole.dram_read_bytes, sampled.dram_read_bytes);
    near("DRAM writes", whole.dram_write_bytes, sampled.dram_write_bytes);
  }

  gpu_spec::GpuSpec gpu_;
  std::shared_ptr<const Program> program_;
};

std::uint32_t blocks(int n, int size) { return static_cast<std::uint32_t>((n + size - 1) / size); }

Shape gemm(const char* kernel, int m, int n, int k) {
  return {.kernel = kernel,
          .grid = {blocks(n, 16), blocks(m, 16), 1},
          .block = {16, 16, 1},
          .megabytes = {32, 32, 32},
          .numbers = {m, n, k}};
}

TEST_P(SampledLaunch, OfStreamingKernels) {
  constexpr int kN = 1 << 22;
  for (const int n : {kN, kN - 12345}) {
    expect_told_from_samples({.kernel = "copy",
                              .grid = {blocks(n, 256), 1, 1},
                              .block = {256, 1, 1},
                              .megabytes = {64, 64},
                              .numbers = {n}});
  }
  expect_told_from_samples({.kernel = "triad4",
                            .grid = {blocks(kN, 256), 1, 1},
                            .block = {256, 1, 1},
                            .megabytes = {256, 256, 256},
                            .numbers = {kN}});
  expect_told_from_samples({.kernel = "grid_stride",
                            .grid = {1000, 1, 1},
                            .block = {256, 1, 1},
                            .megabytes = {64, 64},
                            .numbers = {kN}});
}

TEST_P(SampledLaunch, OfAStridedCopy) {
  constexpr int kN = 1 << 22;
  expect_told_from_samples({.kernel = "strided",
                            .grid = {blocks(kN, 256), 1, 1},
                            .block = {256, 1, 1},
                            .megabytes = {1024, 32},
                            .numbers = {kN, 32}});
}

TEST_P(SampledLaunch, OfDataThatComesAgainAfterManyBlocks) {
  // 4 MiB of input fit into either L2, 16 MiB only into the larger one.
  for (const int width : {1 << 20, 1 << 22}) {
    const auto rows = static_cast<std::uint32_t>((1 << 24) / width);
    expect_told_from_samples({.kernel = "scale_rows",
                              .grid = {blocks(width, 256), rows, 1},
                              .block = {256, 1, 1},
                              .megabytes = {16, 1, 128},
                              .numbers = {width}});
  }
}

TEST_P(SampledLaunch, OfProducts) {
  expect_told_from_samples(gemm("tiled_gemm", 512, 512, 256));
  expect_told_from_samples(gemm("tiled_gemm", 1000, 520, 136));
  expect_told_from_samples(gemm("tiled_gemm", 4096, 128, 64));
  expect_told_from_samples(gemm("tiled_gemm", 100, 4096, 128));
  expect_told_from_samples(gemm("naive_gemm", 256, 512, 256));
}

TEST_P(SampledLaunch, OfAMatrixTimesAVectorAndOfSums) {
  expect_told_from_samples({.kernel = "gemv",
                            .grid = {4096, 1, 1},
                            .block = {128, 1, 1},
                            .megabytes = {64, 1, 1},
                            .numbers = {4096}});
  constexpr int kN = (1 << 23) - 100;
  expect_told_from_samples({.kernel = "block_sums",
                            .grid = {blocks(kN, 256), 1, 1},
                            .block = {256, 1, 1},
                            .megabytes = {32, 1},
                            .numbers = {kN},
                            .shared = 1024});
}

TEST_P(SampledLaunch, OfAStencilWithARim) {
  expect_told_from_samples({.kernel = "stencil",
                            .grid = {blocks(1500, 32), blocks(2001, 8), 1},
                            .block = {32, 8, 1},
                            .megabytes = {64, 64},
                            .numbers = {1500, 2001}});
}

TEST_P(SampledLaunch, OfProductsRunsInFullWhereBlocksHitL1Differently) {
  // Rows that are no whole number of cache lines fall into other sets of L1 in every block.
  Shape tiled = gemm("tiled_gemm", 1001, 1000, 75);
  Shape naive = gemm("naive_gemm", 700, 333, 90);
  tiled.sampled = naive.sampled = false;
  expect_told_from_samples(tiled);
  expect_told_from_samples(naive);
}

TEST_P(SampledLaunch, IsTheSameForAnyNumberOfWorkers) {
  const Shape shape = gemm("tiled_gemm", 1000, 520, 136);
  const Outcome one = run(shape, true, 1);
  const Outcome three = run(shape, true, 3);
  EXPECT_GT(one.result.sampled_blocks, 0U);
  EXPECT_EQ(one.result.sampled_blocks, three.result.sampled_blocks);
  EXPECT_EQ(one.time.total_us, three.time.total_us);
  EXPECT_EQ(one.time.terms, three.time.terms);
  EXPECT_EQ(one.result.counters.l2_hit_sectors, three.result.counters.l2_hit_sectors);
}

TEST_P(SampledLaunch, RunsInFullWhereBlocksDoNotTellOfOthers) {
  expect_told_from_samples({.kernel = "triangle",
                            .grid = {512, 1, 1},
                            .block = {128, 1, 1},
                            .megabytes = {1, 1},
                            .numbers = {0},
                            .sampled = false});
  expect_told_from_samples({.kernel = "now_and_then",
                            .grid = {8192, 1, 1},
                            .block = {128, 1, 1},
                            .megabytes = {8, 8},
                            .sampled = false});
  expect_told_from_samples({.kernel = "count_blocks",
                            .grid = {100'000, 1, 1},
                            .block = {128, 1, 1},
                            .megabytes = {1},
                            .sampled = false});
  expect_told_from_samples({.kernel = "pass_on",
                            .grid = {100'000, 1, 1},
                            .block = {128, 1, 1},
                            .megabytes = {1},
                            .sampled = false});
}

INSTANTIATE_TEST_SUITE_P(OnGpus, SampledLaunch, ::testing::Values("a100", "t4"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace simgpu
