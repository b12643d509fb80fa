#include <gtest/gtest.h>

#include <string>

#include "simgpu/exec/engine_testing.h"

/// Blocks that wait for each other take the time of those that they wait for.
namespace simgpu::testing {
namespace {

/// A kernel whose blocks, of one thread each, execute `before`, work, and execute `behind`. %r5 is
/// free, %r6 the block's number, and %rd1 and %rd2 point to words of memory: the first, and the
/// block's own.
std::string kernel_of_turns(const std::string& before, const std::string& behind) {
  return R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry turns(.param .u64 data)
{
  .reg .pred %p<5>;
  .reg .b32 %r<8>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r6, %ctaid.x;
  mul.wide.u32 %rd2, %r6, 4;
  add.u64 %rd2, %rd1, %rd2;
  mov.f32 %f1, 0f3F800000;
  mov.u32 %r2, 0;
)" + before +
         R"(
WORK:
  fma.rn.f32 %f1, %f1, %f1, %f1;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 5000;
  @%p2 bra WORK;
)" + behind +
         R"(
  st.global.f32 [%rd2+512], %f1;
  ret;
}
)";
}

constexpr unsigned kBlocks = 8;
/// A look that finds another value is a block's own time, beside which the others' is less.
constexpr double kOfLooks = 0.5;

/// How many times as long as one block alone eight of them take that the GPU holds at once.
double length_of(const std::string& before, const std::string& behind, std::uint32_t first_word) {
  Device device(kernel_of_turns(before, behind));
  Launch launch;
  launch.grid = {kBlocks, 1, 1};
  launch.block = {1, 1, 1};
  launch.checkers = false;
  std::vector<std::uint32_t> words(256);
  words.front() = first_word;
  const LaunchResult result = device.run("turns", launch, device.put(words));
  EXPECT_EQ(result.status, LaunchStatus::ok);
  return result.balance.kept_waiting * result.balance.longest;
}

const std::string kPoll = "POLL:\n  ld.volatile.global.u32 %r5, [%rd2];\n";
const std::string kUntilSet = "  setp.eq.u32 %p4, %r5, 0;\n  @%p4 bra POLL;\n";

TEST(BlockTurns, BlocksThatWaitForTheirNumberAreOneAfterAnother) {
  const std::string until_own = "  setp.ne.u32 %p4, %r5, %r6;\n  @%p4 bra POLL;\n";
  for (const char* const look :
       {"atom.global.add.u32 %r5, [%rd1], 0;", "ld.volatile.u32 %r5, [%rd1];",
        "ld.acquire.gpu.global.u32 %r5, [%rd1];"}) {
    const std::string wait = std::string("POLL:\n  ") + look + "\n" + until_own;
    EXPECT_NEAR(length_of(wait, "  red.global.add.u32 [%rd1], 1;\n", 0), kBlocks, kOfLooks) << look;
  }
}

TEST(BlockTurns, BlocksThatWaitForThePreviousOnesFlagAreOneAfterAnother) {
  for (const char* const store :
       {"st.volatile.global.u32", "st.global.u32", "st.release.gpu.global.u32"}) {
    const std::string signal = std::string("  mov.u32 %r5, 1;\n  ") + store + " [%rd2+4], %r5;\n";
    EXPECT_NEAR(length_of(kPoll + kUntilSet, signal, 1), kBlocks, kOfLooks) << store;
  }
}

TEST(BlockTurns, BlocksThatLockEachOtherOutAreOneAfterAnother) {
  const std::string lock = R"(
POLL:
  atom.global.cas.b32 %r5, [%rd1], 0, 1;
  setp.ne.u32 %p4, %r5, 0;
  @%p4 bra POLL;
)";
  EXPECT_NEAR(length_of(lock, "  atom.global.exch.b32 %r5, [%rd1], 0;\n", 0), kBlocks, kOfLooks);
}

TEST(BlockTurns, ABlockThatFindsItsFlagSetHasNotWaited) {
  const std::string signal = "  mov.u32 %r5, 1;\n  st.volatile.global.u32 [%rd2+4], %r5;\n";
  EXPECT_NEAR(length_of(signal, kPoll + kUntilSet, 1), 1, 0.1);
}

TEST(BlockTurns, BlocksThatAllWaitForTheLastOneToComeTakeAsLongAsOne) {
  const std::string arrive = "  red.global.add.u32 [%rd1], 1;\n";
  const std::string wait =
      "POLL:\n  ld.volatile.global.u32 %r5, [%rd1];\n  setp.lt.u32 %p4, %r5, 8;\n  @%p4 bra "
      "POLL;\n";
  EXPECT_NEAR(length_of("", arrive + wait, 0), 1, 0.1);
}

}  // namespace
}  // namespace simgpu::testing
