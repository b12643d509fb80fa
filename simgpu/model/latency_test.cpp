#include "simgpu/model/latency.h"

#include <gtest/gtest.h>

#include "simgpu/model/testing/described_gpu.h"
#include "simgpu/model/testing/told_launch.h"

namespace simgpu {
namespace {

/// A warp that does one atomic after the other, each of them with what the one before returned.
ToldLaunch atomics(std::uint64_t from_dram) {
  ToldLaunch kernel(1, 32);
  kernel.add(InstructionClass::global_atomic, {1}, {1}, 1000);
  kernel.loads = {{.at_l2 = 1000, .from_dram = from_dram}};
  return kernel;
}

double latency_of_atomic(const ToldLaunch& kernel, const gpu_spec::GpuSpec& gpu) {
  return model::latency_of(std::size_t{0}, kernel.work(gpu));
}

TEST(Atomics, WaitForWhatL2HasToFetch) {
  for (const char* const id : {"a100", "h200"}) {
    const gpu_spec::GpuSpec gpu = described_gpu(id);
    const double in_l2 = gpu.atomic_latency > 0 ? gpu.atomic_latency : gpu.l2_latency;
    const double behind = gpu.dram_latency - gpu.l2_latency;
    EXPECT_DOUBLE_EQ(latency_of_atomic(atomics(0), gpu), in_l2) << id;
    EXPECT_DOUBLE_EQ(latency_of_atomic(atomics(250), gpu), in_l2 + 0.25 * behind) << id;
    EXPECT_DOUBLE_EQ(latency_of_atomic(atomics(1000), gpu), in_l2 + behind) << id;
  }
}

TEST(Atomics, GoByTheLaunchsMeanWhereTheirOwnRequestsAreNotKnown) {
  const gpu_spec::GpuSpec gpu = described_gpu("a100");
  ToldLaunch kernel = atomics(0);
  kernel.loads.clear();
  kernel.counters.l2_write_sectors = 1000;
  kernel.counters.l2_hit_sectors = 500;
  EXPECT_DOUBLE_EQ(latency_of_atomic(kernel, gpu), (gpu.l2_latency + gpu.dram_latency) / 2);
}

}  // namespace
}  // namespace simgpu
