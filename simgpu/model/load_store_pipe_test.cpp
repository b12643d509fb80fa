#include <gtest/gtest.h>

#include "simgpu/model/testing/described_gpu.h"
#include "simgpu/model/testing/told_launch.h"

/// What L1, shared memory and shuffles take of the pipe that they share.
namespace simgpu {
namespace {

using Kernel = ToldLaunch;

TEST(LoadStorePipe, AScatteredRequestTakesOneCyclePerLine) {
  Kernel kernel(108, 32);
  kernel.add(InstructionClass::global_load, {1}, {0}, 1000);
  kernel.counters.global_load_requests = 1000 * kernel.warps();
  kernel.counters.l1_tag_lookups = 32 * kernel.counters.global_load_requests;
  EXPECT_NEAR(kernel.on(described_gpu("a100")).terms.at(Limiter::l1), 32000 / 1410.0, 1e-9);
}

TEST(LoadStorePipe, ACoalescedLoadTakesMoreThanTwiceAsLongWithHalfTheLoadStoreUnits) {
  // 128 bytes per request: one cycle on an A100, 2.45 on a T4 and on an RTX A6000.
  const auto l1_cycles = [](const char* id) {
    const gpu_spec::GpuSpec spec = described_gpu(id);
    Kernel kernel(static_cast<std::uint32_t>(spec.sm_count), 32);
    kernel.add(InstructionClass::global_load, {1}, {0}, 1000);
    kernel.counters.global_load_requests = 1000 * kernel.warps();
    kernel.counters.l1_tag_lookups = kernel.counters.global_load_requests;
    kernel.counters.global_load_sectors = 4 * kernel.counters.global_load_requests;
    return kernel.on(spec).terms.at(Limiter::l1) * spec.clock_under_load_mhz();
  };
  EXPECT_NEAR(l1_cycles("a100"), 1000, 1e-6);
  EXPECT_NEAR(l1_cycles("h100-sxm"), 1000, 1e-6);
  EXPECT_NEAR(l1_cycles("t4"), 2450, 1e-6);
  EXPECT_NEAR(l1_cycles("a6000"), 2450, 1e-6);
}

TEST(LoadStorePipe, LanesThatReadTheSameWordsOfL1GetThemOneAfterTheOther) {
  Kernel kernel(108, 32);
  kernel.add(InstructionClass::global_load, {1}, {0}, 1000);
  KernelCounters& c = kernel.counters;
  c.global_load_requests = c.l1_tag_lookups = c.global_load_sectors = 1000 * kernel.warps();
  c.global_load_bytes = 16 * 32 * c.global_load_requests;
  EXPECT_NEAR(kernel.on(described_gpu("a100")).terms.at(Limiter::l1), 4 * 1000 / 1410.0, 1e-9);
}

TEST(LoadStorePipe, L1SharedMemoryAndShufflesTakeTurnsOnOnePipe) {
  Kernel kernel(108, 256);
  const auto terms = [&](std::uint64_t loads, std::uint64_t shared, double shuffles) {
    kernel.program.clear();
    kernel.executed.clear();
    kernel.add(InstructionClass::warp_exchange, {1}, {0}, shuffles);
    kernel.counters.global_load_requests = loads * kernel.warps();
    kernel.counters.shared_load_requests = shared * kernel.warps();
    kernel.counters.shared_load_wavefronts = kernel.counters.shared_load_requests;
    return kernel.on(described_gpu("a100")).terms;
  };
  const double cycle = terms(1, 0, 0).at(Limiter::l1);
  EXPECT_NEAR(terms(500, 1000, 300).at(Limiter::shared), 1800 * cycle, 1e-6);
  EXPECT_NEAR(terms(500, 1000, 300).at(Limiter::l1), 500 * cycle, 1e-6);
  EXPECT_NEAR(terms(500, 1000, 300).at(Limiter::exchange), 300 * cycle, 1e-6);
  EXPECT_NEAR(terms(500, 100, 300).at(Limiter::l1), 900 * cycle, 1e-6);
  EXPECT_NEAR(terms(50, 100, 300).at(Limiter::exchange), 450 * cycle, 1e-6);
}

TEST(LoadStorePipe, AWarpsWordsTakeTwoCyclesFromTuringsSharedMemoryUnlessBanksConflict) {
  const auto cycles = [](const char* id, std::uint64_t wavefronts) {
    const gpu_spec::GpuSpec spec = described_gpu(id);
    Kernel kernel(static_cast<std::uint32_t>(spec.sm_count), 32);
    kernel.counters.shared_load_requests = 1000 * kernel.warps();
    kernel.counters.shared_load_wavefronts = wavefronts * kernel.counters.shared_load_requests;
    kernel.counters.shared_load_bank_conflicts =
        (wavefronts - 1) * kernel.counters.shared_load_requests;
    return kernel.on(spec).terms.at(Limiter::shared) * spec.clock_under_load_mhz() / 1000;
  };
  EXPECT_NEAR(cycles("a100", 1), 1, 1e-9);
  EXPECT_NEAR(cycles("a6000", 1), 1, 1e-9);
  EXPECT_NEAR(cycles("t4", 1), 2, 1e-9);
  EXPECT_NEAR(cycles("t4", 2), 2, 1e-9);
  EXPECT_NEAR(cycles("t4", 32), 32, 1e-9);
}

}  // namespace
}  // namespace simgpu
