#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "simgpu/exec/engine_testing.h"

/// A loop that counts how often it looks at a word comes to an end, however often that is. One
/// whose state is the same at each look does not.
namespace simgpu::testing {
namespace {

constexpr unsigned kCountedLooks = 5000;
constexpr std::uint32_t kBlocksThatLook = 6;

/// Each thread looks at the first of `words` until it is 1, and `until` sends it back to LOOK;
/// then it counts itself in the last one.
std::string kernel_that_looks(const std::string& look, const std::string& until) {
  return R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry look(.param .u64 words)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .shared .align 8 .b64 bar;
  .local .align 4 .b8 own[4];
  ld.param.u64 %rd1, [words];
  mov.u32 %r1, 0;
  mov.u32 %r3, 1;
  st.local.u32 [own], %r1;
LOOK:
)" + look +
         R"(
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra DONE;
)" + until +
         R"(
DONE:
  red.global.add.u32 [%rd1+4], 1;
  ret;
}
)";
}

const std::string kLookAtAWord = "  ld.relaxed.gpu.global.u32 %r2, [%rd1];\n";
const std::string kCountedInARegister = R"(
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p2, %r1, 5000;
  @%p2 bra LOOK;
)";
const std::string kCountedInMemory = R"(
  ld.local.u32 %r4, [own];
  add.u32 %r4, %r4, 1;
  st.local.u32 [own], %r4;
  setp.lt.u32 %p2, %r4, 5000;
  @%p2 bra LOOK;
)";
/// The count decides nothing.
const std::string kForEver = "  add.u32 %r1, %r1, 1;\n  bra LOOK;\n";

class CountedLooks : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  static Launch of_blocks(std::uint32_t blocks) {
    return {.grid = {blocks, 1, 1}, .block = {64, 1, 1}, .checkers = false};
  }
};

TEST_P(CountedLooks, ComeToAnEnd) {
  for (const std::string& count : {kCountedInARegister, kCountedInMemory}) {
    Device device(kernel_that_looks(kLookAtAWord, count));
    const std::uint64_t words = device.put(std::vector<std::uint32_t>(2));
    const LaunchResult result = device.run("look", of_blocks(GetParam()), words);
    EXPECT_EQ(result.status, LaunchStatus::ok) << count;
    EXPECT_EQ(device.get<std::uint32_t>(words, 2).back(), 64 * GetParam()) << count;
    EXPECT_GE(result.counters.warp_instructions, std::uint64_t{kCountedLooks} * 2 * GetParam());
  }
}

TEST_P(CountedLooks, WithoutAnEndAreEndlessWhateverTheyCount) {
  Device device(kernel_that_looks(kLookAtAWord, kForEver));
  const LaunchResult result =
      device.run("look", of_blocks(GetParam()), device.put(std::vector<std::uint32_t>(2)));
  EXPECT_EQ(result.status, LaunchStatus::launch_timeout);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings.front().code, Code("RL0307"));
  EXPECT_LT(result.counters.warp_instructions, 1'000'000U);
}

TEST_P(CountedLooks, AtAnMbarrierComeToAnEnd) {
  const std::string init = R"(
  mov.u32 %r5, bar;
  mov.u32 %r6, 1000;
  setp.ne.u32 %p3, %r1, 0;
  @%p3 bra TRY;
  mbarrier.init.shared.b64 [%r5], %r6;
TRY:
  mbarrier.test_wait.parity.shared.b64 %p1, [%r5], 0;
  selp.u32 %r2, 1, 0, %p1;
)";
  Device device(kernel_that_looks(init, kCountedInARegister));
  const std::uint64_t words = device.put(std::vector<std::uint32_t>(2));
  Launch launch = of_blocks(GetParam());
  launch.block = {32, 1, 1};
  EXPECT_EQ(device.run("look", launch, words).status, LaunchStatus::ok);
  EXPECT_EQ(device.get<std::uint32_t>(words, 2).back(), 32 * GetParam());
}

INSTANTIATE_TEST_SUITE_P(Of, CountedLooks, ::testing::Values(1U, kBlocksThatLook));

}  // namespace
}  // namespace simgpu::testing
