#include "simgpu/exec/step_observer.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <vector>

#include "simgpu/exec/engine_testing.h"
#include "simgpu/exec/warp.h"

namespace simgpu::testing {
namespace {

/// Counts what it sees.
class Counting final : public StepObserver {
 public:
  void begin_block(std::uint64_t block) override { blocks.push_back(block); }
  void before(const Lowered& in, const Warp& /*warp*/, std::uint32_t /*lanes*/) override {
    under_way = in.index;
  }
  void after(const Lowered& in, const Warp& /*warp*/, std::uint32_t lanes) override {
    EXPECT_EQ(in.index, under_way);
    ++seen[in.index].warps;
    seen[in.index].threads += static_cast<std::uint64_t>(std::popcount(lanes));
  }

  std::vector<std::uint64_t> blocks;
  std::map<std::uint32_t, ExecutionCount> seen;
  std::uint32_t under_way = 0;
};

class Observed : public ::testing::Test {
 protected:
  LaunchResult run(const std::string& kernel, unsigned blocks, unsigned threads,
                   StepObserver* observer) {
    data_ = device_.put(std::vector<int>(256));
    return device_.run(
        kernel,
        {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .workers = 2, .observer = observer},
        data_);
  }

  Device device_ = Device::with_test_kernels();
  std::uint64_t data_ = 0;
  Counting counting_;
};

TEST_F(Observed, LaunchesDoWhatTheyDoUnobserved) {
  for (const char* kernel : {"trip_counts", "early_return", "nested_ifs", "warp_operations"}) {
    const LaunchResult plain = run(kernel, 3, 50, nullptr);
    const std::vector<int> expected = device_.get<int>(data_, 256);
    const LaunchResult observed = run(kernel, 3, 50, &counting_);
    EXPECT_EQ(device_.get<int>(data_, 256), expected) << kernel;
    EXPECT_EQ(observed.executed, plain.executed) << kernel;
    EXPECT_EQ(observed.findings.size(), plain.findings.size()) << kernel;
  }
}

TEST_F(Observed, InstructionsAreSeenAsOftenAsTheyAreCounted) {
  const LaunchResult result = run("early_return", 2, 50, &counting_);
  const LoweredKernel& kernel = device_.program().kernels.at("early_return");
  ASSERT_EQ(result.executed.size(), kernel.code.size());
  for (std::uint32_t i = 0; i < kernel.code.size(); ++i) {
    if (kernel.hidden[i] != 0) continue;
    EXPECT_EQ(counting_.seen[i].warps, result.executed[i].warps) << i;
  }
  EXPECT_GT(result.executed[0].warps, 0U);
}

TEST_F(Observed, BlocksAreSeenInTheirOrder) {
  run("trip_counts", 4, 64, &counting_);
  EXPECT_EQ(counting_.blocks, (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST_F(Observed, GuardedInstructionsAreSeenWithTheLanesThatExecuteThem) {
  Device device(R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry first_five(.param .u64 out) {
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 5;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  @%p1 st.global.u32 [%rd3], %r1;
  ret;
})");
  const std::uint64_t out = device.put(std::vector<int>(32));
  device.run("first_five", {.observer = &counting_}, out);
  const LoweredKernel& kernel = device.program().kernels.at("first_five");
  int stores = 0;
  for (std::uint32_t i = 0; i < kernel.code.size(); ++i) {
    if (kernel.info.instructions[i].cls != InstructionClass::global_store) continue;
    EXPECT_EQ(counting_.seen[i].threads, 5U);
    ++stores;
  }
  EXPECT_EQ(stores, 1);
}

}  // namespace
}  // namespace simgpu::testing
