#include "simgpu/model/local_memory.h"

#include <gmock/gmock.h>

#include "simgpu/model/testing/described_gpu.h"
#include "simgpu/model/testing/told_launch.h"

namespace simgpu {
namespace {

/// Full SMs of an A100 whose threads each load and store `words` words of their own memory, turn by
/// turn.
ToldLaunch with_own_arrays(std::uint64_t words) {
  ToldLaunch kernel(8 * 108, 256);
  kernel.add(InstructionClass::local_load, {1}, {0}, 1000);
  kernel.add(InstructionClass::local_store, {}, {1, 0}, 1000);
  KernelCounters& c = kernel.counters;
  c.local_load_requests = c.local_store_requests = 1000 * kernel.warps();
  c.local_load_sectors = c.local_store_sectors = 4 * c.local_load_requests;
  c.local_tag_lookups = 2 * c.local_load_requests;
  c.local_touched_sectors = 4 * words * kernel.warps();
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  model::add_local_traffic(model::local_shares(kernel.work(spec)), c);
  return kernel;
}

TEST(LocalMemory, ThatFitsL1StaysThere) {
  // 2048 threads of 80 bytes are 160 KB. The SM has 184 beside the KB that the system takes of each
  // block's shared memory.
  const ToldLaunch kernel = with_own_arrays(20);
  const TimeBreakdown time = kernel.on(described_gpu("a100"));
  EXPECT_EQ(time.terms.at(Limiter::l2), 0);
  EXPECT_EQ(time.terms.at(Limiter::dram), 0);
  // 64 warps, each 2000 lines, one per cycle.
  EXPECT_NEAR(time.terms.at(Limiter::l1), 128000 / 1410.0, 1e-9);
}

TEST(LocalMemory, ThatDoesNotFitL1GoesToL2AndThenToDram) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  // 256 KB for each SM, of which L1 has 184; all of it is less than L2.
  const KernelCounters l2 = with_own_arrays(32).counters;
  const std::uint64_t sectors = l2.local_load_sectors;
  EXPECT_EQ(l2.l2_read_sectors, sectors * 72 / 256);
  EXPECT_EQ(l2.l2_write_sectors, sectors * 72 / 256);
  EXPECT_EQ(l2.l2_hit_sectors, sectors * 144 / 256);
  EXPECT_EQ(l2.dram_read_bytes, 0U);
  // A KB of each thread is 2 MB for each SM, 216 MB in all.
  const KernelCounters dram = with_own_arrays(256).counters;
  EXPECT_GT(dram.l2_read_sectors, sectors * 9 / 10);
  const double beyond = 1 - static_cast<double>(spec.l2_bytes) / (216 << 20);
  EXPECT_NEAR(static_cast<double>(dram.dram_read_bytes),
              32 * beyond * static_cast<double>(dram.l2_read_sectors), 1e-3 * 32 * sectors);
  EXPECT_EQ(dram.dram_write_bytes, dram.dram_read_bytes);
  EXPECT_GT(with_own_arrays(256).on(spec).total_us, 3 * with_own_arrays(32).on(spec).total_us);
}

TEST(LocalMemory, IsWaitedForWhereItLies) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  const auto latency = [&](std::uint64_t words) {
    const ToldLaunch kernel = with_own_arrays(words);
    return model::latency_of(InstructionClass::local_load, kernel.work(spec));
  };
  EXPECT_DOUBLE_EQ(latency(20), spec.l1_latency);
  EXPECT_NEAR(latency(32), (184 * spec.l1_latency + 72 * spec.l2_latency) / 256, 1e-9);
  EXPECT_GT(latency(256), spec.l2_latency);
}

TEST(GenericLoads, WaitForTheMemoryThatTheyTurnOutToRead) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  const auto latency = [&](std::uint64_t to_global) {
    ToldLaunch kernel = with_own_arrays(20);
    kernel.counters.generic_load_requests = 40;
    kernel.counters.generic_global_load_requests = to_global;
    return model::latency_of(InstructionClass::generic_access, kernel.work(spec));
  };
  const double shared = spec.shared_latency;
  ToldLaunch plain = with_own_arrays(20);
  const double global = model::latency_of(InstructionClass::global_load, plain.work(spec));
  EXPECT_GT(global, 2 * shared);
  EXPECT_DOUBLE_EQ(latency(0), shared);
  EXPECT_DOUBLE_EQ(latency(10), (3 * shared + global) / 4);
  EXPECT_DOUBLE_EQ(latency(40), global);
}

// However many others of the launch read shared memory.
TEST(GenericLoads, WaitForWhatTheirOwnInstructionReads) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel(108, 256);
  kernel.add(InstructionClass::generic_access, {1}, {0}, 1);
  kernel.add(InstructionClass::generic_access, {2}, {0}, 100);
  kernel.counters.generic_load_requests = 101 * kernel.warps();
  kernel.counters.generic_global_load_requests = kernel.warps();
  kernel.loads = {{.requests = kernel.warps(), .beyond_l1 = kernel.warps()}, {}};
  EXPECT_GE(model::latency_of(std::size_t{0}, kernel.work(spec)), spec.l2_latency);
  EXPECT_DOUBLE_EQ(model::latency_of(std::size_t{1}, kernel.work(spec)), spec.shared_latency);
}

TEST(LocalMemory, OfFewThreadsHasAllOfL1) {
  ToldLaunch kernel = with_own_arrays(256);
  kernel.shape.grid = {108, 1, 1};
  kernel.shape.block = {64, 1, 1};
  kernel.counters.local_touched_sectors = 4 * 256 * 2 * 108;
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  EXPECT_EQ(model::local_shares(kernel.work(spec)).l1, 1);
}

}  // namespace
}  // namespace simgpu
