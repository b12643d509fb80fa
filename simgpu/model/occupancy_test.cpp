#include "simgpu/model/occupancy.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "simgpu/model/testing/described_gpu.h"

namespace simgpu {
namespace {

LaunchShape shape(unsigned threads, unsigned registers, unsigned static_shared = 0,
                  unsigned dynamic_shared = 0) {
  LaunchShape result;
  result.grid = {1000, 1, 1};
  result.block = {threads, 1, 1};
  result.registers_per_thread = registers;
  result.static_shared_bytes = static_shared;
  result.dynamic_shared_bytes = dynamic_shared;
  return result;
}

TEST(OccupancyTest, TheBestPracticesGuidesExample) {
  // "CUDA C++ Best Practices Guide", Calculating Occupancy: 37 registers per thread allow 12 blocks
  // of 128 threads (75 %), but only 4 blocks of 320 threads (63 %), on an SM of 65,536 registers
  // and 2048 threads.
  const Occupancy small = occupancy(shape(128, 37), described_gpu("a100"));
  EXPECT_EQ(small.blocks_per_sm, 12U);
  EXPECT_DOUBLE_EQ(small.fraction, 0.75);
  EXPECT_EQ(small.limiter, OccupancyLimiter::registers);
  const Occupancy large = occupancy(shape(320, 37), described_gpu("a100"));
  EXPECT_EQ(large.blocks_per_sm, 4U);
  EXPECT_DOUBLE_EQ(large.fraction, 0.625);
  // The same guide: full occupancy with 2048 threads needs at most 32 registers each.
  EXPECT_DOUBLE_EQ(occupancy(shape(256, 32), described_gpu("a100")).fraction, 1.0);
  EXPECT_LT(occupancy(shape(256, 33), described_gpu("a100")).fraction, 1.0);
}

TEST(OccupancyTest, EachLimitOfAnSm) {
  struct Case {
    const char* gpu;
    LaunchShape shape;
    unsigned blocks;
    OccupancyLimiter limiter;
  };
  // By hand from the tables of the CUDA C++ Programming Guide and the allocation units of the
  // calculator.
  for (const Case& c : std::vector<Case>{
           {"a100", shape(1024, 32), 2, OccupancyLimiter::warps},
           {"a100", shape(1024, 64), 1, OccupancyLimiter::registers},
           {"a100", shape(32, 16), 32, OccupancyLimiter::blocks},
           {"t4", shape(1024, 32), 1, OccupancyLimiter::warps},
           {"t4", shape(32, 16), 16, OccupancyLimiter::blocks},
           {"rtx4090", shape(32, 16), 24, OccupancyLimiter::blocks},
           {"rtx4090", shape(1024, 32), 1, OccupancyLimiter::warps},
           {"a100", shape(256, 32, 48 * 1024), 3,
            OccupancyLimiter::shared_memory},  // 3 x 49 of 164 KiB
           {"a100", shape(256, 32, 0, 163 * 1024), 1, OccupancyLimiter::shared_memory},
           {"t4", shape(256, 32, 32 * 1024), 2,
            OccupancyLimiter::shared_memory},  // nothing is reserved
           {"a10", shape(256, 32, 48 * 1024), 2,
            OccupancyLimiter::shared_memory},  // 2 x 49 of 100 KiB
           {"h100-sxm", shape(256, 32, 48 * 1024), 4,
            OccupancyLimiter::shared_memory},  // 4 x 49 of 228 KiB
           {"rtx5090", shape(32, 16), 24, OccupancyLimiter::blocks},
           {"rtx5090", shape(1024, 32), 1, OccupancyLimiter::warps},
           {"rtx5090", shape(256, 32, 48 * 1024), 2,
            OccupancyLimiter::shared_memory},  // 2 x 49 of 100 KiB
           {"b200", shape(32, 16), 32, OccupancyLimiter::blocks},
           {"b200", shape(1024, 32), 2, OccupancyLimiter::warps},
           {"b200", shape(256, 32, 48 * 1024), 4,
            OccupancyLimiter::shared_memory},  // 4 x 49 of 228 KiB
           {"a100", shape(256, 255), 1, OccupancyLimiter::registers},
           {"a100", shape(33, 32), 32, OccupancyLimiter::warps},
       }) {
    const Occupancy result = occupancy(c.shape, described_gpu(c.gpu));
    EXPECT_EQ(result.blocks_per_sm, c.blocks)
        << c.gpu << ", " << c.shape.block.x << " threads, " << c.shape.registers_per_thread;
    EXPECT_EQ(result.limiter, c.limiter) << c.gpu << ", " << c.shape.block.x << " threads";
  }
}

TEST(OccupancyTest, ABlockThatDoesNotFitHasNone) {
  EXPECT_EQ(occupancy(shape(1024, 65), described_gpu("a100")).blocks_per_sm, 0U);
  EXPECT_EQ(occupancy(shape(256, 32, 0, 163 * 1024 + 1), described_gpu("a100")).blocks_per_sm, 0U);
  EXPECT_EQ(occupancy(shape(256, 256), described_gpu("a100")).blocks_per_sm, 0U);
  EXPECT_EQ(occupancy(shape(1025, 16), described_gpu("a100")).blocks_per_sm, 0U);
}

}  // namespace
}  // namespace simgpu
