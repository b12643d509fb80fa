#include "simgpu/model/spilling.h"

#include <gmock/gmock.h>

#include "simgpu/model/local_memory.h"
#include "simgpu/model/testing/described_gpu.h"
#include "simgpu/model/testing/told_launch.h"

namespace simgpu {
namespace {

/// Full SMs of an A100, whose threads add 1000 times.
ToldLaunch adding() {
  ToldLaunch kernel(8 * 108, 256);
  kernel.add(InstructionClass::fp32, {1}, {1}, 1000);
  return kernel;
}

/// The same with registers that are stored and loaded again at each turn.
ToldLaunch spilling(double loads, double stores, unsigned frame_bytes) {
  ToldLaunch kernel = adding();
  kernel.spills = {
      {.loads = loads, .stores = stores, .load_words = 2 * loads, .store_words = stores}};
  add_spills(kernel.spills, kernel.executed, frame_bytes, kernel.warps(), kernel.counters);
  return kernel;
}

TEST(Spills, AreRequestsOfLocalMemoryAsOftenAsTheirInstruction) {
  const ToldLaunch kernel = spilling(3, 1, 64);
  const std::uint64_t times = 1000 * kernel.warps();
  const KernelCounters& c = kernel.counters;
  EXPECT_EQ(c.local_load_requests, 3 * times);
  EXPECT_EQ(c.local_store_requests, times);
  EXPECT_EQ(c.local_spilling_requests, 4 * times);
  EXPECT_EQ(c.local_load_sectors, 4 * 6 * times) << "each load has two words";
  EXPECT_EQ(c.local_store_sectors, 4 * times);
  EXPECT_EQ(c.local_tag_lookups, 7 * times);
  EXPECT_EQ(c.local_touched_sectors, 64 * kernel.warps());
}

TEST(Spills, TakeIssueSlotsAndTheirPartOfL1) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  const TimeBreakdown plain = adding().on(spec);
  const TimeBreakdown spilled = spilling(3, 1, 64).on(spec);
  EXPECT_NEAR(spilled.terms.at(Limiter::issue), 5 * plain.terms.at(Limiter::issue), 1e-9);
  EXPECT_EQ(plain.terms.at(Limiter::l1), 0);
  // 64 warps, each 7000 lines, one per cycle.
  EXPECT_NEAR(spilled.terms.at(Limiter::l1), 64 * 7000 / 1410.0, 1e-9);
  EXPECT_EQ(spilled.terms.at(Limiter::l2), 0) << "they fit L1";
}

TEST(Spills, ThatDoNotFitL1AreTrafficOfL2) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel = spilling(3, 1, 512);
  model::add_local_traffic(model::local_shares(kernel.work(spec)), kernel.counters);
  EXPECT_GT(kernel.on(spec).terms.at(Limiter::l2), 0);
}

TEST(Spills, AreWaitedForWhereTheyAreLoaded) {
  const gpu_spec::GpuSpec spec = described_gpu("a100");
  ToldLaunch kernel(1, 32);
  kernel.add(InstructionClass::fp32, {1}, {1});
  const double plain = kernel.cycles(spec);
  kernel.spills = {{.loads = 1, .load_words = 1}};
  EXPECT_GE(kernel.cycles(spec), plain + spec.l1_latency);
}

TEST(Spills, OfNothingAreNothing) {
  ToldLaunch kernel = adding();
  const KernelCounters before = kernel.counters;
  add_spills({}, kernel.executed, 128, kernel.warps(), kernel.counters);
  EXPECT_EQ(kernel.counters, before);
}

}  // namespace
}  // namespace simgpu
