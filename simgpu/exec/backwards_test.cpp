#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "simgpu/exec/engine_testing.h"

/// What a program does that waits for nobody depends on the order of its warps and blocks; what one
/// does that waits does not.
namespace simgpu::testing {
namespace {

constexpr std::uint32_t kFourWarps = 4, kSixBlocks = 6;

/// %r1 is the warp and %r2 the block; each has a word of its own in `words`, and [%rd4] is the
/// result.
std::string kernel_in_order(const std::string& body) {
  return R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry order(.param .u64 words, .param .u64 result)
{
  .reg .pred %p<8>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 4 .b8 sums[64];
  ld.param.u64 %rd1, [words];
  ld.param.u64 %rd4, [result];
  mov.u32 %r3, %tid.x;
  shr.u32 %r1, %r3, 5;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd2, %rd1, %rd2;
  mov.u32 %r10, 0;
  mov.u32 %r11, 1;
)" + body +
         R"(
  ret;
}
)";
}

/// Each warp stores 1, and the last one adds all up. @param wait before it does
std::string sum_of_warps(const std::string& wait) {
  return kernel_in_order(R"(
  mov.u32 %r5, sums;
  shl.b32 %r6, %r1, 2;
  add.u32 %r6, %r6, %r5;
  st.relaxed.cta.shared.u32 [%r6], %r11;
)" + wait + R"(
  setp.ne.u32 %p1, %r3, 96;
  @%p1 ret;
ADD:
  ld.relaxed.cta.shared.u32 %r7, [%r5];
  add.u32 %r10, %r10, %r7;
  add.u32 %r5, %r5, 4;
  add.u32 %r11, %r11, 1;
  setp.le.u32 %p2, %r11, 4;
  @%p2 bra ADD;
  st.global.u32 [%rd4], %r10;
)");
}

/// Each block stores 1, and the last one adds all up.
std::string sum_of_blocks(const std::string& store, const std::string& wait, const char* load) {
  return kernel_in_order(store + wait + R"(
  mov.u32 %r8, 0;
ADD:
  )" + load + R"( %r7, [%rd1];
  add.u32 %r10, %r10, %r7;
  add.u64 %rd1, %rd1, 4;
  add.u32 %r8, %r8, 1;
  setp.lt.u32 %p2, %r8, 6;
  @%p2 bra ADD;
  st.global.u32 [%rd4], %r10;
)");
}
const std::string kUnlessLast = "  setp.ne.u32 %p1, %r2, 5;\n  @%p1 ret;\n";

std::uint32_t result_of(const std::string& kernel, std::uint32_t warps, std::uint32_t blocks,
                        bool backwards, bool checkers = false) {
  Device device(kernel);
  Launch launch;
  launch.grid = {blocks, 1, 1};
  launch.block = {warps * 32, 1, 1};
  launch.checkers = checkers;
  launch.backwards = backwards;
  const std::uint64_t words = device.put(std::vector<std::uint32_t>(64));
  const std::uint64_t result = device.put(std::vector<std::uint32_t>(1));
  EXPECT_EQ(device.run("order", launch, words, result).status, LaunchStatus::ok);
  return device.get<std::uint32_t>(result, 1).front();
}

void expect_same(const std::string& kernel, std::uint32_t warps, std::uint32_t blocks,
                 std::uint32_t right) {
  EXPECT_EQ(result_of(kernel, warps, blocks, false), right);
  EXPECT_EQ(result_of(kernel, warps, blocks, true), right);
}
void expect_other(const std::string& kernel, std::uint32_t warps, std::uint32_t blocks,
                  std::uint32_t right) {
  EXPECT_EQ(result_of(kernel, warps, blocks, false), right);
  EXPECT_NE(result_of(kernel, warps, blocks, true), right);
}

TEST(Backwards, TheLastWarpFindsNothingWhereItWaitsForNobody) {
  expect_other(sum_of_warps(""), kFourWarps, 1, kFourWarps);
}

TEST(Backwards, ALoadThatEndsAWarpsTurnIsNoBarrier) {
  const std::string look = "  ld.relaxed.cta.shared.u32 %r9, [%r6];\n";
  const std::string nine = "  ld.volatile.global.u32 %r9, [%rd1];\n";
  std::string accesses;
  for (int i = 0; i < 40; ++i) accesses += nine;
  expect_other(sum_of_warps(look), kFourWarps, 1, kFourWarps);
  expect_other(sum_of_warps(look + look + look), kFourWarps, 1, kFourWarps);
  expect_other(sum_of_warps("  add.u32 %r9, %r11, 0;\n" + accesses), kFourWarps, 1, kFourWarps);
}

/// A loop that looks at a word again and again, whatever it finds there.
std::string delay(const std::string& look) {
  return "  mov.u32 %r12, 0;\nDELAY:\n" + look + R"(
  add.u32 %r12, %r12, 1;
  setp.lt.u32 %p6, %r12, 3000;
  @%p6 bra DELAY;
)";
}

TEST(Backwards, ALoopThatCountsItsLooksWaitsForNobody) {
  for (const char* const look :
       {"  ld.relaxed.cta.shared.u32 %r9, [%r6];\n", "  ld.volatile.global.u32 %r9, [%rd1];\n",
        "  atom.global.add.u32 %r9, [%rd1+128], 0;\n"}) {
    SCOPED_TRACE(look);
    expect_other(sum_of_warps(delay(look)), kFourWarps, 1, kFourWarps);
  }
}

TEST(Backwards, ABarrierIsWhatItWas) {
  expect_same(sum_of_warps("  bar.sync 0;\n"), kFourWarps, 1, kFourWarps);
}

TEST(Backwards, TheLastBlockFindsNothingWhereItWaitsForNobody) {
  expect_other(sum_of_blocks("  st.volatile.global.u32 [%rd2], %r11;\n", kUnlessLast,
                             "ld.volatile.global.u32"),
               1, kSixBlocks, kSixBlocks);
}

/// Without checkers, as launches are timed, such blocks begin together.
TEST(Backwards, TheFirstBlockFindsNothingOfThoseThatHaveNotBegunHoweverOftenItLooks) {
  const std::string unless_first = "  setp.ne.u32 %p1, %r2, 0;\n  @%p1 ret;\n";
  const std::string own = "  ld.volatile.global.u32 %r9, [%rd2];\n";
  const std::string two =
      "  and.b32 %r13, %r12, 1;\n  mul.wide.u32 %rd3, %r13, 4;\n"
      "  add.u64 %rd3, %rd2, %rd3;\n  ld.volatile.global.u32 %r9, [%rd3];\n";
  for (const std::string& look : {own, two}) {
    const std::string kernel = sum_of_blocks("  st.volatile.global.u32 [%rd2], %r11;\n",
                                             unless_first + delay(look), "ld.volatile.global.u32");
    EXPECT_EQ(result_of(kernel, 1, kSixBlocks, false, true), 1U);
  }
}

TEST(Backwards, WhoeverIsLastByACounterFindsEverything) {
  const std::string count = R"(
  setp.ne.u32 %p3, %r3, 0;
  @%p3 ret;
  membar.gl;
  atom.global.add.u32 %r9, [%rd1+128], 1;
  membar.gl;
  setp.ne.u32 %p1, %r9, 5;
  @%p1 ret;
)";
  expect_same(
      sum_of_blocks("  st.volatile.global.u32 [%rd2], %r11;\n", count, "ld.volatile.global.u32"), 1,
      kSixBlocks, kSixBlocks);
}

TEST(Backwards, WhoWaitsForTheBlocksBeforeItFindsThem) {
  // The flag of block i is set once those before it have set theirs.
  const std::string wait = R"(
  setp.ne.u32 %p3, %r3, 0;
  @%p3 ret;
  setp.eq.u32 %p4, %r2, 0;
  @%p4 bra DONE;
POLL:
  ld.acquire.gpu.global.u32 %r9, [%rd2-4];
  setp.eq.u32 %p5, %r9, 0;
  @%p5 bra POLL;
DONE:
  st.release.gpu.global.u32 [%rd2], %r11;
)" + kUnlessLast;
  expect_same(sum_of_blocks("", wait, "ld.relaxed.gpu.global.u32"), 1, kSixBlocks, kSixBlocks);
}

TEST(Backwards, WarpsThatWaitForTheFirstOneLetItGo) {
  const std::string wait = R"(
  setp.eq.u32 %p4, %r1, 0;
  @%p4 bra DONE;
POLL:
  ld.relaxed.cta.shared.u32 %r9, [%r6+-4];
  setp.eq.u32 %p5, %r9, 0;
  @%p5 bra POLL;
DONE:
  st.relaxed.cta.shared.u32 [%r6], %r11;
)";
  const std::string kernel = kernel_in_order(R"(
  mov.u32 %r5, sums;
  shl.b32 %r6, %r1, 2;
  add.u32 %r6, %r6, %r5;
  st.relaxed.cta.shared.u32 [%r6], %r10;
  bar.sync 0;
)" + wait + R"(
  setp.ne.u32 %p1, %r3, 96;
  @%p1 ret;
  ld.relaxed.cta.shared.u32 %r7, [%r5];
  st.global.u32 [%rd4], %r7;
)");
  expect_same(kernel, kFourWarps, 1, 1);
}

TEST(Backwards, ALockLetsEveryWarpIn) {
  expect_same(kernel_in_order(R"(
  and.b32 %r4, %r3, 31;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 ret;
LOCK:
  atom.global.cas.b32 %r9, [%rd1], 0, 1;
  setp.ne.u32 %p2, %r9, 0;
  @%p2 bra LOCK;
  ld.volatile.global.u32 %r7, [%rd4];
  add.u32 %r7, %r7, 1;
  st.volatile.global.u32 [%rd4], %r7;
  membar.gl;
  atom.global.exch.b32 %r9, [%rd1], 0;
)"),
              kFourWarps, kSixBlocks, kFourWarps * kSixBlocks);
}

}  // namespace
}  // namespace simgpu::testing
