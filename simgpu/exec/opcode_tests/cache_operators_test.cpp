#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simgpu/exec/opcode_tests/bench.h"

/// Which caches a load goes through.
namespace simgpu::opcode_tests::cache_operators_test {
namespace {

using Values = std::vector<std::uint64_t>;

constexpr std::uint64_t kAll = 0xFFFFFFFFu;

TEST(CacheOperators, OfLoadsThatL2AloneCachesKeepThemOutOfL1) {
  struct Case {
    std::string load;
    bool skips_l1;
  };
  for (const Case& x : {Case{"ld.global.u32", false},
                        {"ld.global.ca.u32", false},
                        {"ld.global.nc.u32", false},
                        {"ld.global.cs.u32", false},
                        {"ld.global.cg.u32", true},
                        {"ld.global.cv.u32", true},
                        {"ld.global.nc.cg.u32", true},
                        {"ld.cg.u32", true}}) {
    SCOPED_TRACE(x.load);
    const std::string load = "  " + x.load + " %r0, [%d0];\n";
    testing::Device device(bench_module(
        bench_kernel("kernel", "  mul.wide.u32 %d0, %lane, 4;\n  add.u64 %d0, %d0, %p0;\n" + load +
                                   load + give("r0", "p2"))));
    ASSERT_EQ(refusal_of(device, "kernel"), "");
    const std::uint64_t data = device.put(Values(kWarpLanes));
    const std::uint64_t out = device.put(Values(kWarpLanes));
    for (const bool checkers : {false, true}) {
      testing::Launch launch;
      launch.checkers = checkers;
      const LaunchResult run = device.run("kernel", launch, data, data, out, out, out, kAll);
      ASSERT_EQ(trouble(run), "");
      EXPECT_EQ(run.counters.global_load_sectors, 8u);
      EXPECT_EQ(run.counters.l1_hit_sectors, x.skips_l1 ? 0u : 4u);
      EXPECT_EQ(run.counters.l2_read_sectors, x.skips_l1 ? 8u : 4u);
    }
  }
}

}  // namespace
}  // namespace simgpu::opcode_tests::cache_operators_test
