#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simgpu/exec/engine_testing.h"

// Launches that do not end, or not soon.
namespace simgpu::testing {
namespace {

using ::testing::HasSubstr;

// sum_up adds to a sum until a counter, which goes by `step`, is `end`. count_up does so `end`
// times in each thread, count_oddly a number of times that differs from block to block,
// count_for_three in one block of three for all, count_twice storing what it has half-way, and
// count_together in one place.
constexpr const char* kKernels = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry sum_up(.param .u64 out, .param .u32 step, .param .u32 end)
{
  .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .f32 %f<2>; .reg .pred %p<2>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r1, [step]; ld.param.u32 %r2, [end];
  mov.u32 %r3, 0; mov.f32 %f1, 0f00000000;
L:
  add.f32 %f1, %f1, 0f3DCCCCCD;
  add.s32 %r3, %r3, %r1;
  setp.lt.s32 %p1, %r3, %r2;
  @%p1 bra L;
  st.global.f32 [%d1], %f1;
  ret;
}
.visible .entry load_up(.param .u64 out, .param .u32 step, .param .u32 end)
{
  .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .f32 %f<3>; .reg .pred %p<2>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r1, [step]; ld.param.u32 %r2, [end];
  mov.u32 %r3, 0; mov.f32 %f1, 0f00000000;
L:
  ld.global.f32 %f2, [%d1];
  add.f32 %f1, %f1, %f2;
  st.global.f32 [%d1+4], %f1;
  add.s32 %r3, %r3, %r1;
  setp.lt.s32 %p1, %r3, %r2;
  @%p1 bra L;
  ret;
}
.visible .entry wait_for_own_count(.param .u64 out, .param .u32 end)
{
  .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p<2>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r2, [end];
L:
  ld.global.u32 %r3, [%d1];
  add.s32 %r3, %r3, 1;
  st.global.u32 [%d1], %r3;
  setp.lt.s32 %p1, %r3, %r2;
  @%p1 bra L;
  ret;
}
.visible .entry count_up(.param .u64 out, .param .u32 end)
{
  .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<2>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r2, [end];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  mad.wide.s32 %d2, %r6, 4, %d1;
  mov.u32 %r1, 0;
L:
  add.s32 %r1, %r1, 1;
  setp.lt.s32 %p1, %r1, %r2;
  @%p1 bra L;
  st.global.u32 [%d2], %r1;
  ret;
}
.visible .entry do_nothing(.param .u64 out) { ret; }
.visible .entry store_beside(.param .u64 out)
{
  .reg .b32 %r<2>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [out]; mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %d2, %r1, 16384; add.s64 %d1, %d1, %d2;
  st.global.u32 [%d1], %r1;
  ret;
}
.visible .entry count_oddly(.param .u64 out, .param .u32 end)
{
  .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<2>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r2, [end];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  mad.wide.s32 %d2, %r6, 4, %d1;
  mul.lo.s32 %r7, %r3, -1640531535;
  shr.u32 %r7, %r7, 22;
  sub.s32 %r2, %r2, %r7;
  mov.u32 %r1, 0;
L:
  add.s32 %r1, %r1, 1;
  setp.lt.s32 %p1, %r1, %r2;
  @%p1 bra L;
  st.global.u32 [%d2], %r1;
  ret;
}
.visible .entry count_for_three(.param .u64 out, .param .u32 end)
{
  .reg .b32 %r<10>; .reg .b64 %d<4>; .reg .pred %p<3>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r2, [end];
  mov.u32 %r3, %ctaid.x;
  div.u32 %r4, %r3, 3; mul.lo.s32 %r5, %r4, -1640531535; shr.u32 %r5, %r5, 13;
  rem.u32 %r5, %r5, 3; rem.u32 %r6, %r3, 3;
  setp.ne.u32 %p2, %r5, %r6;
  @%p2 ret;
  mov.u32 %r7, %tid.x; mov.u32 %r8, %ntid.x; mul.lo.u32 %r8, %r8, 3; mul.lo.u32 %r2, %r2, 3;
  mad.lo.s32 %r7, %r4, %r8, %r7;
  mad.wide.s32 %d2, %r7, 4, %d1;
  mov.u32 %r1, 0;
L:
  add.s32 %r1, %r1, 1;
  setp.lt.s32 %p1, %r1, %r2;
  @%p1 bra L;
  st.global.u32 [%d2], %r1;
  ret;
}
.visible .entry count_twice(.param .u64 out, .param .u32 end)
{
  .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<2>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r2, [end];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  mad.wide.s32 %d2, %r6, 4, %d1;
  mov.u32 %r1, 0;
L:
  add.s32 %r1, %r1, 1;
  setp.lt.s32 %p1, %r1, %r2;
  @%p1 bra L;
  st.global.u32 [%d2], %r1;
  mov.u32 %r7, 0;
M:
  add.s32 %r7, %r7, 1;
  setp.lt.s32 %p1, %r7, %r2;
  @%p1 bra M;
  add.s32 %r1, %r1, %r7;
  st.global.u32 [%d2], %r1;
  ret;
}
.visible .entry copy_registers(.param .u64 out, .param .u32 end)
{
  .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p<2>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r2, [end];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  mad.wide.s32 %d2, %r6, 4, %d1;
  mov.u32 %r1, 0;
L:
  mov.u32 %r7, 1; mov.u32 %r8, %r7; mov.u32 %r7, 2; mov.u32 %r8, %r7;
  mov.u32 %r7, 3; mov.u32 %r8, %r7; mov.u32 %r7, 4; mov.u32 %r8, %r7;
  add.s32 %r1, %r1, 1;
  setp.lt.s32 %p1, %r1, %r2;
  @%p1 bra L;
  st.global.u32 [%d2], %r1;
  ret;
}
.visible .entry sweep(.param .u64 in, .param .u64 out, .param .u32 per, .param .u32 turns)
{
  .reg .b32 %r<12>; .reg .b64 %d<5>; .reg .f32 %f<3>; .reg .pred %p<2>;
  ld.param.u64 %d1, [in]; ld.param.u64 %d4, [out]; ld.param.u32 %r1, [per]; ld.param.u32 %r2, [turns];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
  mad.lo.u32 %r6, %r3, %r4, %r5;
  rem.u32 %r7, %r6, %r1; div.u32 %r8, %r6, %r1;
  mad.lo.u32 %r9, %r7, 8, %r8;
  mad.wide.u32 %d2, %r9, 4, %d1;
  ld.global.f32 %f1, [%d2];
  mul.lo.s32 %r10, %r3, -1640531535;
  shr.u32 %r10, %r10, 27;
  add.u32 %r10, %r10, %r2;
L:
  fma.rn.f32 %f1, %f1, %f1, %f1;
  sub.u32 %r10, %r10, 1;
  setp.ne.u32 %p1, %r10, 0;
  @%p1 bra L;
  mad.wide.u32 %d3, %r3, 4, %d4;
  setp.eq.u32 %p1, %r5, 0;
  @%p1 st.global.f32 [%d3], %f1;
  ret;
}
.visible .entry count_together(.param .u64 out, .param .u32 end)
{
  .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<2>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r2, [end];
  mov.u32 %r1, 0;
L:
  add.s32 %r1, %r1, 1;
  setp.lt.s32 %p1, %r1, %r2;
  @%p1 bra L;
  red.global.add.u32 [%d1], 1;
  ret;
}
)";

class TooLong : public ::testing::Test {
 protected:
  Finding failed(const LaunchResult& result) {
    EXPECT_EQ(result.status, LaunchStatus::launch_timeout);
    EXPECT_EQ(result.findings.size(), 1U);
    return result.findings.empty() ? Finding{} : result.findings.front();
  }
  Device device_{kKernels};
  const std::uint64_t out_ = device_.put(std::vector<int>(64'000, 1));
};

TEST_F(TooLong, ALoopThatNeverCountsIsEndlessThoughItsSumGrows) {
  const Finding finding = failed(device_.run("sum_up", {}, out_, 0, 10));
  EXPECT_EQ(finding.code, Code("RL0307"));
  EXPECT_EQ(finding.kind(), FindingKind::deadlock);
  EXPECT_EQ(failed(device_.run("load_up", {.checkers = false}, out_, 0, 10)).code, Code("RL0307"))
      << "what it stores each time decides nothing";
}

TEST_F(TooLong, ALoopThatCountsAwayIsTooLong) {
  const Finding finding = failed(
      device_.run("sum_up", {.budget = 20'000'000'000, .warp_limit_us = 20'000}, out_, -1, 10));
  EXPECT_EQ(finding.code, Code("RL0319"));
  EXPECT_EQ(finding.kind(), FindingKind::too_long);
  EXPECT_THAT(finding.message, HasSubstr("modelled ms"));
}

TEST_F(TooLong, AllWarpsOfABlockTogetherTakeNoLongerThanOneMayAlone) {
  const Launch launch{.block = {1024, 1, 1}, .budget = 20'000'000'000, .warp_limit_us = 2'000};
  const Finding finding = failed(device_.run("sum_up", launch, out_, -1, 10));
  EXPECT_EQ(finding.code, Code("RL0319"));
  EXPECT_THAT(finding.message, HasSubstr("the warps of this block"));
  const LaunchResult ended = device_.run("sum_up", launch, out_, 1, 1'000);
  EXPECT_EQ(ended.status, LaunchStatus::ok) << "each warp is far from the limit";
}

TEST_F(TooLong, ALoopWhoseEndLiesInMemoryComesToIt) {
  const LaunchResult result = device_.run("wait_for_own_count", {}, out_, 400'000);
  EXPECT_EQ(result.status, LaunchStatus::ok);
  EXPECT_EQ(device_.get<int>(out_, 1).front(), 400'000);
}

TEST_F(TooLong, AWideKernelIsToldOfBeyondItsBudgetOnAnyNumberOfWorkers) {
  std::vector<Finding> findings;
  for (const unsigned workers : {1U, 2U, 4U}) {
    findings.push_back(failed(device_.run("count_up",
                                          {.grid = {1000, 1, 1},
                                           .block = {64, 1, 1},
                                           .workers = workers,
                                           .budget = 1'000'000,
                                           .warp_limit_us = 20'000},
                                          out_, 1000)));
    EXPECT_EQ(findings.back().code, Code("RL0319"));
  }
  EXPECT_EQ(findings[1], findings[2]);
}

TEST_F(TooLong, ALaunchOfEqualBlocksIsSampledWhereItIsBounded) {
  Launch launch{.grid = {1000, 1, 1}, .block = {64, 1, 1}, .workers = 2, .checkers = false};
  const LaunchResult whole = device_.run("count_up", launch, out_, 1000);
  launch.bounds = true;
  const LaunchResult unchanged = device_.run("count_up", launch, out_, 1000);
  EXPECT_EQ(unchanged.sampled_blocks, 0U) << "it is within its budget";
  EXPECT_EQ(unchanged.counters, whole.counters);
  launch.budget = 4'000'000;
  const LaunchResult sampled = device_.run("count_up", launch, out_, 1000);
  EXPECT_EQ(sampled.status, LaunchStatus::ok);
  EXPECT_FALSE(sampled.at_least);
  EXPECT_GT(sampled.sampled_blocks, 0U);
  EXPECT_EQ(sampled.counters.warp_instructions, whole.counters.warp_instructions);
}

TEST_F(TooLong, BlocksAllOverTheGridBoundOneThatCannotBeSampled) {
  Launch launch{.grid = {1000, 1, 1}, .block = {64, 1, 1}, .workers = 2, .checkers = false};
  const LaunchResult whole = device_.run("count_oddly", launch, out_, 1200);
  launch.bounds = true;
  launch.budget = 2'000'000;
  const LaunchResult bounded = device_.run("count_oddly", launch, out_, 1200);
  EXPECT_EQ(bounded.status, LaunchStatus::ok);
  EXPECT_TRUE(bounded.at_least);
  EXPECT_EQ(bounded.bounded_blocks, 0U) << "the whole grid";
  EXPECT_LT(bounded.counters.warp_instructions, whole.counters.warp_instructions);
  EXPECT_GT(bounded.counters.warp_instructions, whole.counters.warp_instructions / 2);
}

/// What a bounded launch has left in memory is what its whole blocks stored, and nothing else.
void expect_settled(const LaunchResult& bounded, const std::vector<int>& before,
                    const std::vector<int>& whole, const std::vector<int>& after,
                    std::uint64_t out) {
  std::vector<int> expected = before;
  for (const ByteRange& range : bounded.settled.ranges) {
    ASSERT_EQ(range.bytes % sizeof(int), 0U);
    for (std::uint64_t at = range.address; at < range.address + range.bytes; at += sizeof(int)) {
      const std::uint64_t element = (at - out) / sizeof(int);
      expected.at(element) = whole.at(element);
    }
  }
  EXPECT_EQ(after, expected);
}

std::uint64_t settled_words(const LaunchResult& bounded) {
  std::uint64_t bytes = 0;
  for (const ByteRange& range : bounded.settled.ranges) bytes += range.bytes;
  return bytes / sizeof(int);
}

TEST_F(TooLong, AGridGainsNothingByBlocksThatDifferWhereItIsBounded) {
  constexpr unsigned kBlocks = 30'000, kEnd = 1000, kSecrets = 12;
  Launch launch;
  launch.grid = {kBlocks, 1, 1};
  launch.checkers = false;
  launch.bounds = true;
  launch.budget = 2'000'000;
  Device device(kKernels);
  const std::uint64_t out = device.put(std::vector<std::uint32_t>(kBlocks * 32));
  double told = 0;
  for (launch.secret = 1; launch.secret <= kSecrets; ++launch.secret) {
    const LaunchResult result = device.run("count_for_three", launch, out, kEnd);
    ASSERT_TRUE(result.at_least);
    told += static_cast<double>(result.counters.warp_instructions) / kSecrets;
  }
  // A turn has three instructions, and each block of three does 3 * kEnd of them.
  EXPECT_NEAR(told / (3.0 * kEnd * kBlocks), 1, 0.1);
}

TEST_F(TooLong, ABudgetSpentOnCopiesBetweenRegistersTellsNothingOfTheTime) {
  Launch launch{.grid = {1000, 1, 1}, .block = {64, 1, 1}, .checkers = false, .bounds = true};
  // Bounded by blocks all over the grid, and by its beginning: four blocks would take too long.
  for (const std::uint64_t budget : {5'000'000U, 200'000U}) {
    launch.budget = budget;
    const LaunchResult bounded = device_.run("copy_registers", launch, out_, 1200);
    EXPECT_EQ(bounded.status, LaunchStatus::ok);
    EXPECT_TRUE(bounded.at_least);
    EXPECT_EQ(bounded.counters.warp_instructions, 0U);
    EXPECT_EQ(bounded.balance.longest_of_block, 1);
    EXPECT_GT(settled_words(bounded), 0U) << "what is stored can be compared all the same";
  }
}

TEST_F(TooLong, WhatABoundedGridReadsFromDramIsToldByBlocksInARow) {
  // Eight times over all sectors of 64 MiB, of which L2 holds fewer.
  constexpr unsigned kBlocks = 16'384, kThreads = 1024;
  constexpr std::uint64_t kBytes = std::uint64_t{kBlocks} * kThreads * sizeof(float);
  Device device(kKernels);
  const std::uint64_t in = device.put(std::vector<float>(kBlocks * kThreads));
  const std::uint64_t out = device.put(std::vector<float>(kBlocks));
  Launch launch;
  launch.grid = {kBlocks, 1, 1};
  launch.block = {kThreads, 1, 1};
  launch.checkers = false;
  launch.bounds = true;
  launch.budget = 60'000'000;
  const LaunchResult bounded = device.run("sweep", launch, in, out, kBlocks * kThreads / 8, 20);
  EXPECT_TRUE(bounded.at_least);
  EXPECT_NEAR(static_cast<double>(bounded.counters.dram_read_bytes) / (8.0 * kBytes), 1, 0.02);
}

TEST_F(TooLong, WhatWholeBlocksOfABoundedLaunchStoredStaysAndIsTold) {
  Launch launch{.grid = {1000, 1, 1}, .block = {64, 1, 1}, .workers = 2, .checkers = false};
  const std::uint64_t whole = device_.put(std::vector<int>(64'000, 1));
  device_.run("count_oddly", launch, whole, 1200);
  launch.bounds = true;
  launch.budget = 2'000'000;
  const LaunchResult bounded = device_.run("count_oddly", launch, out_, 1200);
  EXPECT_GT(settled_words(bounded), 64 * 16U);
  EXPECT_EQ(settled_words(bounded) % 64, 0U) << "whole blocks";
  ASSERT_EQ(bounded.settled.of_grid.size(), 1U);
  EXPECT_EQ(bounded.settled.of_grid[0], (ByteRange{out_, 64'000 * sizeof(int)}));
  expect_settled(bounded, std::vector<int>(64'000, 1), device_.get<int>(whole, 64'000),
                 device_.get<int>(out_, 64'000), out_);
  EXPECT_EQ(bounded.settled.ranges.front().address, out_) << "the first block is always among them";
  EXPECT_EQ(bounded.settled.chosen.of_grid, 1000U);
  EXPECT_EQ(bounded.settled.chosen.storing * 64, settled_words(bounded)) << "all of them store";
  EXPECT_EQ(bounded.settled.chosen.last_stores_at, out_ + 999 * 64 * sizeof(int));
}

TEST_F(TooLong, WhatABlockHasStoredThatWasStoppedDoesNotStay) {
  Launch launch{.grid = {40, 1, 1}, .block = {64, 1, 1}, .workers = 2, .checkers = false};
  const std::uint64_t whole = device_.put(std::vector<int>(2560, 1));
  device_.run("count_twice", launch, whole, 1000);
  launch.bounds = true;
  launch.budget = 300'000;
  const LaunchResult bounded = device_.run("count_twice", launch, out_, 1000);
  EXPECT_TRUE(bounded.at_least);
  EXPECT_GT(settled_words(bounded), 0U);
  EXPECT_LT(settled_words(bounded), 64 * 20U);
  std::vector<int> right = device_.get<int>(whole, 2560);
  expect_settled(bounded, std::vector<int>(2560, 1), right, device_.get<int>(out_, 2560), out_);
  launch.workers = 1;
  const LaunchResult alone = device_.run("count_twice", launch, out_, 1000);
  EXPECT_EQ(alone.settled.ranges, bounded.settled.ranges) << "on one worker too";
}

TEST_F(TooLong, WhichBlocksBoundALaunchIsASecret) {
  Launch launch{.grid = {1000, 1, 1},
                .block = {64, 1, 1},
                .checkers = false,
                .budget = 2'000'000,
                .bounds = true};
  const LaunchResult one = device_.run("count_oddly", launch, out_, 1200);
  const LaunchResult again = device_.run("count_oddly", launch, out_, 1200);
  launch.secret = 1;
  const LaunchResult other = device_.run("count_oddly", launch, out_, 1200);
  EXPECT_EQ(one.settled.ranges, again.settled.ranges);
  EXPECT_NE(one.settled.ranges, other.settled.ranges);
}

TEST_F(TooLong, BlocksThatMayWaitForEachOtherAreBoundedByTheFirst) {
  const LaunchResult bounded = device_.run("count_together",
                                           {.grid = {1000, 1, 1},
                                            .block = {64, 1, 1},
                                            .checkers = false,
                                            .budget = 1'000'000,
                                            .bounds = true},
                                           out_, 1000);
  EXPECT_EQ(bounded.status, LaunchStatus::ok);
  EXPECT_TRUE(bounded.at_least);
  EXPECT_GT(bounded.bounded_blocks, 1U);
  EXPECT_LT(bounded.bounded_blocks, 1000U);
  EXPECT_GT(bounded.counters.warp_instructions, 500'000U);
  EXPECT_TRUE(bounded.settled.ranges.empty()) << "others would add to what they have stored";
}

TEST_F(TooLong, AGridWithMoreBlocksThanTheBudgetEndsAtOnce) {
  Launch launch{.grid = {2147483647, 65535, 65535}, .block = {64, 1, 1}, .budget = 100'000};
  for (const unsigned workers : {1U, 2U}) {
    launch.workers = workers;
    const LaunchResult result = device_.run("do_nothing", launch, out_);
    EXPECT_EQ(failed(result).code, Code("RL0319"));
    EXPECT_THAT(failed(result).message, HasSubstr("its grid has 9223090559730712575 blocks"));
    EXPECT_LT(result.work, 10'000'000U);
    const LaunchResult beside = device_.run("store_beside", launch, out_);
    EXPECT_EQ(beside.status, LaunchStatus::illegal_address) << "what its first blocks do is found";
  }
}

TEST_F(TooLong, WhatIsEndlessFailsThoughItsTimeWouldBeBounded) {
  const Launch launch{.checkers = false, .warp_limit_us = 100'000, .bounds = true};
  EXPECT_EQ(failed(device_.run("sum_up", launch, out_, 0, 10)).code, Code("RL0307"));
  EXPECT_TRUE(device_.run("sum_up", launch, out_, -1, 10).at_least);
}

}  // namespace
}  // namespace simgpu::testing
