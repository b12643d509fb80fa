#include <gtest/gtest.h>

#include "simgpu/exec/opcode_tests/bench.h"
#include "simgpu/exec/opcode_tests/tested_instructions.h"

/// alloca, stacksave, stackrestore; elect; blocks that wait for each other.
namespace simgpu::opcode_tests::stack_test {
namespace {

constexpr std::uint64_t kAll = 0xFFFFFFFF;
using Values = std::vector<std::uint64_t>;

/// Runs `body` in `blocks` blocks of a warp; %p0 is room for results, %p1 a word that is 0.
struct Execution {
  LaunchResult result;
  Values out;

  explicit Execution(const std::string& body, unsigned blocks = 1, bool cooperative = false) {
    testing::Device device(bench_module(bench_kernel("kernel", body)));
    EXPECT_EQ(refusal_of(device, "kernel"), "");
    const std::uint64_t room = device.put(Values(512));
    const std::uint64_t word = device.put(Values(64));
    testing::Launch launch;
    launch.grid = {blocks, 1, 1};
    launch.workers = 2;
    launch.cooperative = cooperative;
    result = device.run("kernel", launch, room, word, room, room, room, kAll);
    out = device.get<std::uint64_t>(room, 512);
  }
  std::string codes() const {
    std::string text;
    for (const Finding& finding : result.findings)
      text += (text.empty() ? "" : " ") + finding.code.text();
    return text;
  }
};

/// `bytes` of the stack: the thread's number is stored at both ends and added up.
std::string use_stack(const std::string& bytes) {
  return "  alloca.u64 %d1, " + bytes +
         ", 16;\n  st.local.u32 [%d1], %thread;\n"
         "  add.u64 %d2, %d1, " +
         bytes +
         ";\n  st.local.u32 [%d2+-4], %thread;\n"
         "  ld.local.u32 %r1, [%d1];\n  ld.local.u32 %r2, [%d2+-4];\n  add.u32 %r1, %r1, %r2;\n";
}

TEST(Alloca, GivesEachThreadMemoryOfItsOwn) {
  const Execution run(use_stack("64") + give("r1", "p0"));
  EXPECT_EQ(run.codes(), "");
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(run.out[lane], 2 * lane);
}

TEST(Alloca, EndsWithTheStack) {
  const Execution run(use_stack("1040"));  // of 1024
  EXPECT_EQ(run.result.status, LaunchStatus::stack_overflow);
  EXPECT_EQ(run.codes(), "RL0209");
}

TEST(Alloca, IsGivenBackByStackrestore) {
  const std::string loop = "  mov.u32 %r9, 0;\n$loop:\n  stacksave.u64 %d7;\n" + use_stack("512") +
                           "  stackrestore.u64 %d7;\n  add.u32 %r9, %r9, 1;\n"
                           "  setp.lt.u32 %q1, %r9, 20;\n  @%q1 bra $loop;\n";
  EXPECT_EQ(Execution(loop).codes(), "");
}

TEST(Elect, NamesTheLowestLane) {
  const Execution run(
      "  mov.u32 %r1, 0xff0;\n  setp.ge.u32 %q1, %lane, 4;\n"
      "  setp.lt.and.u32 %q1, %lane, 12, %q1;\n  mov.u32 %r2, 99;\n"
      "  @!%q1 bra $end;\n  elect.sync %r2|%q3, %r1;\n  @%q3 add.u32 %r2, %r2, 100;\n"
      "$end:\n" +
      give("r2", "p0"));
  EXPECT_EQ(run.codes(), "");
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(run.out[lane], lane == 4 ? 104u : lane > 4 && lane < 12 ? 4u : 99u);
  }
}

// Blocks that wait for later ones.

/// Every block stores 100 + its number, says so at %p1, and waits until `blocks` have: by `look`,
/// which gives %r3. Then it reads the next block's number.
std::string meet(unsigned blocks, const std::string& look) {
  const std::string count = std::to_string(blocks);
  return "  mov.u32 %r1, %ctaid.x;\n  setp.eq.u32 %q1, %lane, 0;\n  @!%q1 exit;\n"
         "  mul.wide.u32 %d1, %r1, 8;\n  add.u64 %d1, %d1, %p0;\n  add.u32 %r2, %r1, 100;\n"
         "  st.global.u32 [%d1], %r2;\n  fence.acq_rel.gpu;\n"
         "  atom.add.release.gpu.global.u32 %r2, [%p1], 1;\n$again:\n" +
         look + "  setp.lt.u32 %q2, %r3, " + count +
         ";\n  @%q2 bra $again;\n  fence.acq_rel.gpu;\n"
         "  add.u32 %r1, %r1, 1;\n  rem.u32 %r1, %r1, " +
         count +
         ";\n  mul.wide.u32 %d2, %r1, 8;\n  add.u64 %d2, %d2, %p0;\n  ld.global.u32 %r4, [%d2];\n"
         "  st.global.u32 [%d1+256], %r4;\n";
}

TEST(BlocksThatWait, LetOthersBegin) {
  for (const std::string look :
       {"  ld.acquire.gpu.global.u32 %r3, [%p1];\n", "  ld.volatile.global.u32 %r3, [%p1];\n",
        "  ld.relaxed.sys.u32 %r3, [%p1];\n",
        "  atom.or.acquire.gpu.global.b32 %r3, [%p1], 0;\n"}) {
    const Execution run(meet(8, look), 8);
    EXPECT_EQ(run.codes(), "") << look;
    for (unsigned block = 0; block < 8; ++block) {
      EXPECT_EQ(run.out[32 + block], 100 + (block + 1) % 8) << look;
    }
  }
}

TEST(BlocksThatWait, ForMoreThanFitAreADeadlock) {
  const Execution run(meet(9, "  ld.acquire.gpu.global.u32 %r3, [%p1];\n"), 9);  // 8 fit
  EXPECT_EQ(run.result.status, LaunchStatus::launch_timeout);
  EXPECT_EQ(run.codes(), "RL0307");
}

TEST(BlocksThatWait, MayAllRunAtOnceInACooperativeLaunch) {
  const std::string workspace =
      "  mov.u32 %r8, %envreg1;\n  mov.u32 %r9, %envreg2;\n  mov.b64 %p1, {%r9, %r8};\n";
  const Execution run(workspace + meet(16, "  ld.acquire.gpu.global.u32 %r3, [%p1];\n"), 16, true);
  EXPECT_EQ(run.codes(), "");
  for (unsigned block = 0; block < 16; ++block) {
    EXPECT_EQ(run.out[32 + block], 100 + (block + 1) % 16);
  }
}

/// Without the release and the acquire the same is a race.
TEST(BlocksThatWait, RaceWhereNothingOrdersThem) {
  const Execution run("  mov.u32 %r1, %ctaid.x;\n  st.global.u32 [%p0], %r1;\n", 2);
  EXPECT_EQ(run.codes(), "RL0304");
  const Execution strong("  mov.u32 %r1, %ctaid.x;\n  st.relaxed.gpu.global.u32 [%p0], %r1;\n", 2);
  EXPECT_EQ(strong.codes(), "");
}

std::vector<std::string> stack_instructions() {
  return {"alloca.u64 %d1, 64, 16;", "stacksave.u64 %d7;", "stackrestore.u64 %d7;",
          "elect.sync %r2|%q3, %r1;"};
}
const TestedInstructions kTested{stack_instructions};

}  // namespace
}  // namespace simgpu::opcode_tests::stack_test
