#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "simgpu/exec/engine_testing.h"

/// Whose turn it was to wait for memory, where warps or instructions ask for the same lines.
namespace simgpu::testing {
namespace {

constexpr std::uint32_t kTurns = 64;

/// Of two warps, the second executes `ahead` with the address %rd2 of a line; behind a barrier the
/// first warp loads from that line and adds it up. Then both go on to the next line.
std::string kernel_with(const std::string& ahead) {
  return R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry sum(.param .u64 data, .param .u32 zero)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .f32 %f<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r4, [zero];
  setp.ne.u32 %p3, %r4, 0;
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  setp.lt.u32 %p1, %r1, 32;
  mad.wide.u32 %rd2, %r2, 4, %rd1;
  mov.f32 %f1, 0f00000000;
  mov.u32 %r3, 0;
TURN:
  @%p1 bra MEET;
)" + ahead +
         R"(
MEET:
  bar.sync 0;
  @!%p1 bra NEXT;
  ld.global.f32 %f2, [%rd2];
  add.f32 %f1, %f1, %f2;
NEXT:
  add.u64 %rd2, %rd2, 128;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, 64;
  @%p2 bra TURN;
  mad.wide.u32 %rd3, %r1, 4, %rd1;
  st.global.f32 [%rd3], %f1;
  ret;
}
)";
}

/// What is counted of the load behind the barrier.
LoadCounts load_behind(const std::string& ahead) {
  Device device(kernel_with(ahead));
  Launch launch;
  launch.grid = {1, 1, 1};
  launch.block = {64, 1, 1};
  const std::uint64_t data = device.put(std::vector<float>(std::size_t{kTurns} * 32));
  const auto loads = device.run("sum", launch, data, std::uint32_t{0}).loads;
  const auto last = std::find_if(loads.rbegin(), loads.rend(),
                                 [](const LoadCounts& one) { return one.requests > 0; });
  return last == loads.rend() ? LoadCounts{} : *last;
}

TEST(AwaitedLoads, AWarpWaitsItselfForDataThatNobodyElseWaitsFor) {
  EXPECT_EQ(load_behind("").beyond_l1, kTurns);
  EXPECT_EQ(load_behind("ld.volatile.global.f32 %f3, [%rd2];").beyond_l1, kTurns)
      << "it is under way, and the other warp went on at once";
  EXPECT_EQ(load_behind("ld.global.f32 %f3, [%rd2];").beyond_l1, kTurns)
      << "the assembler leaves such a load out";
  EXPECT_EQ(load_behind("ld.global.f32 %f3, [%rd2]; add.f32 %f4, %f3, %f3;").beyond_l1, kTurns)
      << "and this one too";
}

TEST(AwaitedLoads, AWarpThatMayNotUseItsDataDoesNotWait) {
  EXPECT_EQ(load_behind("ld.global.f32 %f3, [%rd2]; @%p3 add.f32 %f1, %f1, %f3;").beyond_l1,
            kTurns);
  EXPECT_EQ(
      load_behind("ld.global.f32 %f3, [%rd2]; @!%p3 bra MEET; add.f32 %f1, %f1, %f3;").beyond_l1,
      kTurns);
}

TEST(AwaitedLoads, DataIsThereBehindABarrierWhenTheOtherWarpHasUsedIt) {
  EXPECT_EQ(load_behind("ld.global.f32 %f3, [%rd2]; add.f32 %f1, %f1, %f3;").beyond_l1, 0U);
  EXPECT_EQ(
      load_behind("ld.global.f32 %f3, [%rd2]; bra.uni USE; USE: add.f32 %f1, %f1, %f3;").beyond_l1,
      0U)
      << "in the next basic block";
}

TEST(AwaitedLoads, ALoadWhoseTurnComesAgainWaitsForItsRegister) {
  // Each turn fetches what is used in the next one, as in a pipeline.
  const LoadCounts behind = load_behind(
      "add.f32 %f1, %f1, %f3; add.u64 %rd3, %rd2, 128; setp.lt.u32 %p2, %r3, 63;"
      "@%p2 ld.global.f32 %f3, [%rd3];");
  EXPECT_LE(behind.beyond_l1, 2U) << "the first turn's own, and what it has just fetched";
}

TEST(AwaitedLoads, ResultsThatNobodyReadsTakeNoIssueSlots) {
  const auto issued = [](const std::string& ahead) {
    Device device(kernel_with(ahead));
    std::size_t count = 0;
    for (const InstructionInfo& info : device.info("sum").instructions) {
      count += info.issues ? 1 : 0;
    }
    return count;
  };
  const std::string chain =
      "ex2.approx.f32 %f4, %f1; ex2.approx.f32 %f5, %f4; ld.global.f32 %f6, [%rd2];";
  EXPECT_EQ(issued(chain), issued(""));
  EXPECT_EQ(issued(chain + "add.f32 %f1, %f5, %f6;"), issued("") + 4);
  EXPECT_EQ(issued("bar.warp.sync -1; membar.cta; nanosleep.u32 20;"), issued("") + 3)
      << "they are there for what they do";
}

}  // namespace
}  // namespace simgpu::testing
