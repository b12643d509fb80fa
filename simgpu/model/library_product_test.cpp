#include "simgpu/model/library_product.h"

#include <gtest/gtest.h>

#include "simgpu/model/testing/described_gpu.h"

namespace simgpu {
namespace {

using model::fastest_split;
using model::LibraryProduct;

/// Share of the peak that a product reaches.
double utilisation(const LibraryProduct& product, const std::string& gpu_name) {
  const gpu_spec::GpuSpec gpu = described_gpu(gpu_name);
  const double operations = 2.0 * static_cast<double>(product.m) * static_cast<double>(product.n) *
                            static_cast<double>(product.k) * static_cast<double>(product.batch);
  return operations / fastest_split(product, gpu).compute_us * 1e6 /
         model::arithmetic_rate(product.flop_type, gpu);
}

TEST(LibraryProductTest, ALargeProductReachesWhatTheInnerLoopLeaves) {
  EXPECT_NEAR(utilisation({.m = 8192, .n = 8192, .k = 8192}, "h200"), 0.765, 0.02);
  EXPECT_NEAR(utilisation({.m = 8192, .n = 8192, .k = 8192, .flop_type = "bf16_tensor"}, "h200"),
              0.90, 0.02);
  EXPECT_NEAR(utilisation({.m = 8192, .n = 8192, .k = 8192}, "a100"), 0.92, 0.02)
      << "half of its issue slots are free for loads";
}

TEST(LibraryProductTest, FewTilesLeaveMultiprocessorsIdle) {
  EXPECT_NEAR(utilisation({.m = 1024, .n = 1024, .k = 64, .flop_type = "bf16_tensor"}, "a100"),
              0.92 * 0.79, 0.02)
      << "256 tiles of 64 x 64 for 108 SMs";
  const LibraryProduct tiny{.m = 128, .n = 128, .k = 64};
  EXPECT_LT(utilisation(tiny, "h200"), 0.1) << "16 tiles of 32 x 32";
}

TEST(LibraryProductTest, ALongSumIsSplitWhereTilesAreFew) {
  const gpu_spec::GpuSpec gpu = described_gpu("a100");
  EXPECT_GT(fastest_split({.m = 128, .n = 128, .k = 65536}, gpu).parts_of_k, 1U);
  EXPECT_EQ(fastest_split({.m = 4096, .n = 4096, .k = 4096}, gpu).parts_of_k, 1U);
  EXPECT_EQ(fastest_split({.m = 128, .n = 128, .k = 64}, gpu).parts_of_k, 1U)
      << "the parts would be too short";
}

TEST(LibraryProductTest, ItsGridCoversTheProduct) {
  const gpu_spec::GpuSpec gpu = described_gpu("t4");
  for (const std::uint64_t m : {1U, 17U, 300U, 5000U}) {
    const LibraryProduct product{.m = m, .n = 777, .k = 1000, .batch = 3};
    const model::ProductSplit split = fastest_split(product, gpu);
    EXPECT_GE(std::uint64_t{split.grid.x} * split.tile_rows, m);
    EXPECT_GE(std::uint64_t{split.grid.y} * split.tile_columns, product.n);
    EXPECT_EQ(split.grid.z, 3 * split.parts_of_k);
  }
}

TEST(LibraryProductTest, AThinProductPaysForNoRowsThatItHasNot) {
  const LibraryProduct row{.m = 8, .n = 8192, .k = 8192, .flop_type = "bf16_tensor"};
  EXPECT_GT(utilisation(row, "a100"), 0.7);
}

TEST(LibraryProductTest, NothingToDoTakesNoTime) {
  const gpu_spec::GpuSpec gpu = described_gpu("a100");
  EXPECT_EQ(fastest_split({.m = 0, .n = 8, .k = 8}, gpu).compute_us, 0);
  EXPECT_EQ(fastest_split({.m = 8, .n = 8, .k = 0}, gpu).compute_us, 0);
  EXPECT_EQ(fastest_split({.m = 8, .n = 8, .k = 8}, {}).compute_us, 0);
}

}  // namespace
}  // namespace simgpu
