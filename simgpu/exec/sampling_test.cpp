#include "simgpu/exec/sampling_testing.h"

/// A sampled launch tells the counters and the time that the whole launch has.
namespace simgpu::testing {
namespace {

class KernelLaunch : public SampledLaunch {
 protected:
  KernelLaunch() : SampledLaunch(SIMGPU_SAMPLING_PTX) {}
};

std::uint32_t blocks(int n, int size) { return static_cast<std::uint32_t>((n + size - 1) / size); }

Shape gemm(const char* kernel, int m, int n, int k) {
  return {.kernel = kernel,
          .grid = {blocks(n, 16), blocks(m, 16), 1},
          .block = {16, 16, 1},
          .megabytes = {32, 32, 32},
          .numbers = {m, n, k}};
}

/// All its tiles along x.
Shape flat_gemm(const char* kernel, int m, int n, int k) {
  Shape shape = gemm(kernel, m, n, k);
  shape.grid = {shape.grid.x * shape.grid.y, 1, 1};
  return shape;
}

TEST_P(KernelLaunch, OfStreamingKernels) {
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

TEST_P(KernelLaunch, OfAStridedCopy) {
  constexpr int kN = 1 << 22;
  expect_told_from_samples({.kernel = "strided",
                            .grid = {blocks(kN, 256), 1, 1},
                            .block = {256, 1, 1},
                            .megabytes = {1024, 32},
                            .numbers = {kN, 32}});
}

TEST_P(KernelLaunch, OfDataThatComesAgainAfterManyBlocks) {
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

TEST_P(KernelLaunch, OfProducts) {
  expect_told_from_samples(gemm("tiled_gemm", 512, 512, 256));
  expect_told_from_samples(gemm("tiled_gemm", 1000, 520, 136));
  expect_told_from_samples(gemm("tiled_gemm", 4096, 128, 64));
  expect_told_from_samples(gemm("tiled_gemm", 100, 4096, 128));
  expect_told_from_samples(gemm("naive_gemm", 256, 512, 256));
}

TEST_P(KernelLaunch, OfProductsWhoseTilesAreNumberedByOneIndex) {
  for (const char* kernel : {"flat_gemm_by_rows", "flat_gemm_by_columns"}) {
    expect_told_from_samples(flat_gemm(kernel, 512, 768, 128));
    expect_told_from_samples(flat_gemm(kernel, 500, 520, 136));
  }
}

TEST_P(KernelLaunch, OfAMatrixTimesAVectorAndOfSums) {
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

TEST_P(KernelLaunch, OfAStencilWithARim) {
  expect_told_from_samples({.kernel = "stencil",
                            .grid = {blocks(1500, 32), blocks(2001, 8), 1},
                            .block = {32, 8, 1},
                            .megabytes = {64, 64},
                            .numbers = {1500, 2001}});
}

TEST_P(KernelLaunch, OfProductsRunsInFullWhereBlocksHitL1Differently) {
  // Rows that are no whole number of cache lines fall into other sets of L1 in every block.
  Shape tiled = gemm("tiled_gemm", 1001, 1000, 75);
  Shape naive = gemm("naive_gemm", 700, 333, 90);
  tiled.sampled = naive.sampled = false;
  expect_told_from_samples(tiled);
  expect_told_from_samples(naive);
}

TEST_P(KernelLaunch, IsTheSameForAnyNumberOfWorkers) {
  const Shape shape = gemm("tiled_gemm", 1000, 520, 136);
  const Outcome one = run(shape, true, 1);
  const Outcome three = run(shape, true, 3);
  EXPECT_GT(one.result.sampled_blocks, 0U);
  EXPECT_EQ(one.result.sampled_blocks, three.result.sampled_blocks);
  EXPECT_EQ(one.time.total_us, three.time.total_us);
  EXPECT_EQ(one.time.terms, three.time.terms);
  EXPECT_EQ(one.result.counters.l2_hit_sectors, three.result.counters.l2_hit_sectors);
}

TEST_P(KernelLaunch, OfATriangle) {
  expect_told_from_samples({.kernel = "triangle",
                            .grid = {512, 1, 1},
                            .block = {128, 1, 1},
                            .megabytes = {1, 1},
                            .numbers = {0}});
}

TEST_P(KernelLaunch, WhichBlocksRunIsASecretAndTheyTellWhatAllStore) {
  constexpr int kN = (1 << 22) - 12345;
  expect_told_by_other_blocks({.kernel = "copy",
                               .grid = {blocks(kN, 256), 1, 1},
                               .block = {256, 1, 1},
                               .megabytes = {64, 64},
                               .numbers = {kN}},
                              sizeof(float) * kN);
  constexpr int kM = 1000, kColumns = 520;
  expect_told_by_other_blocks(gemm("tiled_gemm", kM, kColumns, 136), sizeof(float) * kM * kColumns);
}

TEST_P(KernelLaunch, CountsOnceWhatTwoBlocksStoreTo) {
  constexpr std::uint64_t kTiles = 176, kTile = 13312;
  const Shape shape{.kernel = "store_tiles_twice",
                    .grid = {2, 80, 2},
                    .block = {256, 1, 1},
                    .megabytes = {16},
                    .numbers = {static_cast<int>(kTile)}};
  std::uint64_t sampled = 0;
  for (std::uint64_t secret = 0; secret < 16; ++secret) {
    const LaunchResult result = run(shape, true, 2, secret).result;
    if (result.sampled_blocks == 0) continue;  // two that store to one place ran
    ++sampled;
    ASSERT_EQ(result.settled.of_grid.size(), 1U);
    EXPECT_EQ(result.settled.of_grid[0].bytes, sizeof(float) * kTiles * kTile);
  }
  EXPECT_GT(sampled, 0U);
}

TEST_P(KernelLaunch, OfBlocksThatDoTheSameAtAnotherPaceThanTheFirst) {
  const Shape shape{.kernel = "take_turns",
                    .grid = {4096, 1, 1},
                    .block = {256, 1, 1},
                    .megabytes = {8},
                    .numbers = {500}};
  expect_told_from_samples(shape);
  EXPECT_GT(run(shape, true).result.balance.kept_waiting, 7);
}

TEST_P(KernelLaunch, RunsInFullWhereBlocksDoNotTellOfOthers) {
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

INSTANTIATE_TEST_SUITE_P(OnGpus, KernelLaunch, ::testing::Values("a100", "t4"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace simgpu::testing
