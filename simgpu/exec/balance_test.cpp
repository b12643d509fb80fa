#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "simgpu/exec/engine_testing.h"

/// How unevenly the warps of a block share its work: by what takes time on a machine.
namespace simgpu::testing {
namespace {

/// A kernel whose threads run `ballast` 100 times where `place` puts something else than 0 into
/// %r1, and `work` where it does not.
std::string kernel_of(const std::string& work, const std::string& ballast,
                      const std::string& place) {
  return R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry uneven(.param .u64 data)
{
  .shared .align 16 .b8 tile[1024];
  .reg .pred %p<3>;
  .reg .b32 %r<20>;
  .reg .f32 %f<10>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [data];
)" + place +
         R"(
  mov.u32 %r3, tile;
  mov.f32 %f1, 0f3F800000;
  mov.u32 %r2, 0;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra OTHERS;
WORK:
)" + work +
         R"(
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 100;
  @%p2 bra WORK;
  bra.uni DONE;
OTHERS:
)" + ballast +
         R"(
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 100;
  @%p2 bra OTHERS;
DONE:
  st.global.f32 [%rd1], %f1;
  st.global.u32 [%rd1+4], %r4;
  ret;
}
)";
}

std::string times(int count, const std::string& instruction) {
  std::string all;
  for (int i = 0; i < count; ++i) all += "  " + instruction + "\n";
  return all;
}

/// The first warp of a block works, and all others have the ballast.
WorkBalance balance_of_warps(const std::string& work, const std::string& ballast) {
  Device device(kernel_of(work, ballast, "  mov.u32 %r1, %tid.x;\n  shr.u32 %r1, %r1, 5;"));
  Launch launch;
  launch.block = {128, 1, 1};
  launch.checkers = false;
  const std::uint64_t data = device.put(std::vector<float>(1 << 20));
  return device.run("uneven", launch, data).balance;
}

const std::string kMultiplyAdd = "fma.rn.f32 %f1, %f1, %f1, %f1;";
// From another sector in each turn.
const std::string kLoad =
    "add.u64 %rd1, %rd1, 32;\n  ld.global.f32 %f2, [%rd1];\n  add.f32 %f1, %f1, %f2;";

TEST(WorkBalance, WarpsThatDoTheSameAreEven) {
  const WorkBalance balance = balance_of_warps(times(60, kMultiplyAdd), times(60, kMultiplyAdd));
  EXPECT_NEAR(balance.longest_of_block, 1, 0.02);
  EXPECT_NEAR(balance.busiest_scheduler, 0.25, 0.01);
}

TEST(WorkBalance, MovesThatTheAssemblerFoldsMakeNoWarpBusy) {
  const WorkBalance idle = balance_of_warps(times(60, kMultiplyAdd), "");
  const WorkBalance ballast =
      balance_of_warps(times(60, kMultiplyAdd), times(60, "mov.f32 %f2, %f1;"));
  EXPECT_NEAR(ballast.longest_of_block, idle.longest_of_block, 0.01);
  EXPECT_NEAR(ballast.busiest_scheduler, idle.busiest_scheduler, 0.01);
  EXPECT_GT(idle.longest_of_block, 3);
}

TEST(WorkBalance, AWarpThatWaitsForCopiesIsLongerThanOneThatAdds) {
  const std::string copy =
      kLoad + "\n  cp.async.ca.shared.global [%r3], [%rd1], 16;\n  cp.async.wait_all;";
  const WorkBalance balance = balance_of_warps(copy, times(60, "add.u32 %r4, %r4, %r2;"));
  EXPECT_GT(balance.longest_of_block, 2.5);
}

// Warps that read the same lines wait for them together, whichever the engine runs first.
TEST(WorkBalance, WarpsThatReadTheSameLinesAreEven) {
  EXPECT_NEAR(balance_of_warps(kLoad, kLoad).longest_of_block, 1, 0.02);
}

/// How often the ways of a launch execute the multiply-add most of all.
std::vector<std::uint64_t> multiply_adds(const WorkBalance& balance) {
  std::vector<std::uint64_t> most;
  for (const WarpWays::Way& way : balance.ways->ways) {
    std::uint64_t count = 0;
    for (const ExecutionCount& executed : way.executed) count = std::max(count, executed.warps);
    most.push_back(count / way.blocks);
  }
  return most;
}

TEST(WorkBalance, TellsForEachInstructionWhichSchedulersWarpsExecuteIt) {
  const WorkBalance balance = balance_of_warps(kMultiplyAdd, times(3, "add.u32 %r4, %r4, %r2;"));
  const auto has = [&](const std::array<std::uint64_t, 4>& counts) {
    return std::ranges::any_of(*balance.schedulers, [&](const SchedulerCounts& of) {
      return of.by_scheduler == counts && of.busiest == 100;
    });
  };
  EXPECT_TRUE(has({100, 0, 0, 0}));
  EXPECT_TRUE(has({0, 100, 100, 100}));
}

// Equally many blocks multiply and add, but those of an SM all do the same.
TEST(WorkBalance, TellsForEachPipeWhatTheBusiestSmDoes) {
  constexpr unsigned kSms = 8;  // of the GPU that Device has
  Device device(kernel_of(times(60, kMultiplyAdd), times(60, "add.u32 %r4, %r4, %r2;"),
                          "  mov.u32 %r1, %ctaid.x;\n  and.b32 %r1, %r1, 1;"));
  Launch launch;
  launch.grid = {2 * kSms, 1, 1};
  launch.block = {128, 1, 1};
  launch.checkers = false;
  const std::uint64_t data = device.put(std::vector<float>(32));
  const WorkBalance balance = device.run("uneven", launch, data).balance;
  ASSERT_TRUE(balance.busiest_pipes);
  EXPECT_NEAR(kSms * balance.busiest_pipes->at(pipe_of(InstructionClass::fp32)), 2, 0.02);
  EXPECT_NEAR(kSms * balance.busiest_pipes->at(pipe_of(InstructionClass::integer)), 1.95, 0.05);
  EXPECT_NEAR(kSms * balance.busiest_instructions, 1, 0.02);
}

TEST(WorkBalance, WarpsThatDoOtherThingsGoAnotherWay) {
  const WorkBalance balance = balance_of_warps(kMultiplyAdd, times(3, kMultiplyAdd));
  EXPECT_EQ(balance.ways->ways.size(), 2U);
  ASSERT_EQ(balance.ways->mixes.size(), 1U);
  EXPECT_EQ(balance.ways->mixes.front().ways.size(), 2U);
  EXPECT_THAT(multiply_adds(balance), ::testing::Each(100U));
}

/// A kernel of four warps, of which the first two work before the others: these wait.
/// @param signal of who has worked first; `wait` of who works behind that
std::string two_phases(const std::string& signal, const std::string& wait) {
  return R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry uneven(.param .u64 data)
{
  .shared .align 8 .b8 flag[8];
  .reg .pred %p<5>;
  .reg .b32 %r<8>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r3, flag;
  mov.u32 %r4, 64;
  mov.u64 %rd2, 0;
  mov.f32 %f1, 0f3F800000;
  mov.u32 %r2, 0;
  setp.ne.u32 %p3, %r1, 0;
  @%p3 bra BEGIN;
  st.shared.u64 [%r3], %rd2;
BEGIN:
  bar.sync 0;
  setp.ge.u32 %p1, %r1, 64;
  @%p1 bra SECOND;
FIRST:
  fma.rn.f32 %f1, %f1, %f1, %f1;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 5000;
  @%p2 bra FIRST;
)" + signal +
         R"(
  bra.uni DONE;
SECOND:
)" + wait +
         R"(
TURN:
  fma.rn.f32 %f1, %f1, %f1, %f1;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 5000;
  @%p2 bra TURN;
DONE:
  st.global.f32 [%rd1], %f1;
  ret;
}
)";
}

/// Of one block of four warps.
WorkBalance balance_of(const std::string& kernel, bool cooperative = false) {
  Device device(kernel);
  Launch launch;
  launch.block = {128, 1, 1};
  launch.checkers = false;
  launch.cooperative = cooperative;
  return device.run("uneven", launch, device.put(std::vector<float>(32))).balance;
}

const std::string kBarrier = "  bar.sync 0;\n";
const std::string kCount = "  atom.shared.add.u32 %r5, [%r3], 1;\n";

TEST(WorkBalance, ABlockWhoseWarpsTakeTurnsIsAsLongAsAllOfThemHoweverTheyWait) {
  const std::string until = "  setp.ne.u32 %p4, %r5, 64;\n  @%p4 bra POLL;\n";
  const std::pair<std::string, std::string> waits[] = {
      {kBarrier, kBarrier},
      {"  bar.arrive 1, 128;\n", "  bar.sync 1, 128;\n"},
      {kCount, "POLL:\n  ld.volatile.shared.u32 %r5, [%r3];\n" + until},
      {kCount, "POLL:\n  ld.acquire.cta.shared.u32 %r5, [%r3];\n" + until},
      {kCount, "POLL:\n  atom.shared.add.u32 %r5, [%r3], 0;\n" + until},
      {"  red.release.gpu.global.add.u32 [%rd1+64], 1;\n",
       "POLL:\n  ld.acquire.gpu.global.u32 %r5, [%rd1+64];\n" + until}};
  for (const auto& [signal, wait] : waits) {
    const WorkBalance balance = balance_of(two_phases(signal, wait));
    // Looks in vain are instructions of the warp's own, too.
    EXPECT_NEAR(balance.longest_of_block * balance.kept_waiting, 2, 0.5) << wait;
  }
}

TEST(WorkBalance, ABlockWhoseWarpsWaitForAnMbarrierIsAsLongAsAllOfThem) {
  const std::string begin = "  st.shared.u64 [%r3], %rd2;\n";
  std::string kernel = two_phases("  mbarrier.arrive.shared.b64 %rd3, [%r3];\n", R"(
POLL:
  mbarrier.try_wait.parity.shared.b64 %p4, [%r3], 0;
  @!%p4 bra POLL;
)");
  kernel.replace(kernel.find(begin), begin.size(), "  mbarrier.init.shared.b64 [%r3], %r4;\n");
  EXPECT_NEAR(balance_of(kernel).kept_waiting, 2, 0.05);
}

TEST(WorkBalance, WarpsThatMeetAtAnMbarrierAgainAndAgainWaitForNobodysNextTurn) {
  const WorkBalance balance = balance_of(R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry uneven(.param .u64 data)
{
  .shared .align 8 .b8 meeting[8];
  .reg .pred %p<5>;
  .reg .b32 %r<8>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r3, meeting;
  mov.u32 %r4, 128;
  mov.f32 %f1, 0f3F800000;
  mov.u32 %r2, 0;
  setp.ne.u32 %p3, %r1, 0;
  @%p3 bra BEGIN;
  mbarrier.init.shared.b64 [%r3], %r4;
BEGIN:
  bar.sync 0;
TURN:
)" + times(40, kMultiplyAdd) +
                                         R"(
  mbarrier.arrive.shared.b64 %rd3, [%r3];
POLL:
  mbarrier.test_wait.shared.b64 %p4, [%r3], %rd3;
  @!%p4 bra POLL;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 50;
  @%p2 bra TURN;
  st.global.f32 [%rd1], %f1;
  ret;
}
)");
  EXPECT_NEAR(balance.kept_waiting, 1, 0.1);
}

TEST(WorkBalance, ABlockWhoseWarpsLockEachOtherOutIsAsLongAsAllOfThem) {
  const std::string lock = R"(
LOCK:
  atom.shared.exch.b32 %r5, [%r3], 1;
  setp.ne.u32 %p4, %r5, 0;
  @%p4 bra LOCK;
)";
  std::string kernel = two_phases("", "");
  // All go the first half's way, one lane of each.
  const std::string choice = "  setp.ge.u32 %p1, %r1, 64;\n  @%p1 bra SECOND;\n";
  const std::string one_lane = "  and.b32 %r6, %r1, 31;\n  setp.ne.u32 %p1, %r6, 0;\n  @%p1 ret;\n";
  kernel.replace(kernel.find(choice), choice.size(), one_lane + lock);
  const std::string done = "  bra.uni DONE;\n";
  kernel.replace(kernel.find(done), done.size(),
                 "  atom.shared.exch.b32 %r5, [%r3], 0;\n  bra.uni DONE;\n");
  EXPECT_NEAR(balance_of(kernel).kept_waiting, 4, 0.2);
}

TEST(WorkBalance, AnAtomicThatTellsWhichWorkIsWhoseForgivesNoTurns) {
  const std::string asks = "  atom.global.add.u32 %r6, [%rd1+64], 1;\n";
  for (const bool cooperative : {false, true}) {
    EXPECT_NEAR(balance_of(two_phases(asks + kBarrier, kBarrier), cooperative).kept_waiting, 2, 0.1)
        << cooperative;
  }
}

}  // namespace
}  // namespace simgpu::testing
