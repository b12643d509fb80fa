#include <gtest/gtest.h>

#include "simgpu/exec/opcode_tests/bench.h"
#include "simgpu/exec/opcode_tests/tested_instructions.h"

/// mbarrier.*, and copies that arrive at one: when phases end, and what they order.
namespace simgpu::opcode_tests::mbarrier_test {
namespace {

constexpr std::uint64_t kAll = 0xFFFFFFFF;
using Values = std::vector<std::uint64_t>;

const char* const kDeclarations =
    "  .shared .align 8 .b64 bar;\n  .shared .align 16 .b8 tile[1024];\n";
/// The first thread makes a barrier for `count` arrivals.
std::string init(const std::string& count) {
  return "  setp.eq.u32 %q1, %thread, 0;\n  @%q1 mbarrier.init.shared.b64 [bar], " + count +
         ";\n  bar.sync 0;\n";
}

/// Runs a block of `threads`; %p0 is the pattern 1, 2, 3 … of 8 bytes each, %p1 room for results.
struct Execution {
  LaunchResult result;
  Values out;

  explicit Execution(const std::string& body, unsigned threads = 32) {
    testing::Device device(bench_module(bench_kernel("kernel", body, kDeclarations)));
    EXPECT_EQ(refusal_of(device, "kernel"), "");
    Values pattern(256);
    for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = i + 1;
    const std::uint64_t in = device.put(pattern);
    const std::uint64_t room = device.put(Values(256));
    testing::Launch launch;
    launch.block = {threads, 1, 1};
    result = device.run("kernel", launch, in, room, in, in, in, kAll);
    out = device.get<std::uint64_t>(room, 256);
  }
  std::string codes() const {
    std::string text;
    for (const Finding& finding : result.findings)
      text += (text.empty() ? "" : " ") + finding.code.text();
    return text;
  }
};

const std::string kArrive = "  mbarrier.arrive.shared.b64 %d0, [bar];\n";
const std::string kWait =
    "$again:\n  mbarrier.try_wait.shared.b64 %q2, [bar], %d0;\n  @!%q2 bra $again;\n";

TEST(Mbarriers, LetNobodyOnBeforeAllHaveArrived) {
  // Each thread stores its number, arrives, waits, and reads what the other warp has stored.
  const std::string store =
      "  mul.lo.u32 %r4, %thread, 4;\n  mov.u32 %r5, tile;\n"
      "  add.u32 %r4, %r4, %r5;\n  st.shared.u32 [%r4], %thread;\n";
  const std::string read =
      "  xor.b32 %r6, %thread, 33;\n  mul.lo.u32 %r6, %r6, 4;\n"
      "  add.u32 %r6, %r6, %r5;\n  ld.shared.u32 %r7, [%r6];\n" +
      give("r7", "p1");
  const Execution run(init("64") + store + kArrive + kWait + read, 64);
  EXPECT_EQ(run.codes(), "");
  for (unsigned thread = 0; thread < 64; ++thread) EXPECT_EQ(run.out[thread], thread ^ 33U);
  // Without the wait the first warp reads what the second has not stored.
  EXPECT_NE(Execution(init("64") + store + kArrive + read, 64).codes().find("RL0206"),
            std::string::npos);
}

TEST(Mbarriers, CountAsBarriersByTheirArrivals) {
  const auto barriers = [](const std::string& body) {
    return Execution(init("64") + body, 64).result.counters.instructions_by_class.at("barrier");
  };
  const std::uint64_t of_init = barriers("");
  const std::string phase = "{\n" + kArrive + kWait + "}\n";
  EXPECT_EQ(barriers(phase) - of_init, 2U) << "of two warps, however often they ask";
  EXPECT_EQ(barriers(phase + phase) - of_init, 4U);
}

TEST(Mbarriers, CountArrivalsAndBytesOfEachPhase) {
  const auto state_after = [](const std::string& steps, const std::string& expected) {
    const Execution run(init(expected) + "  @%q1 bra $on;\n  exit;\n$on:\n" + steps +
                        "  mbarrier.test_wait.parity.shared.b64 %q3, [bar], 0;\n" +
                        give_predicate("q3", "p1"));
    EXPECT_EQ(run.codes(), "") << steps;
    return run.out[0];
  };
  const std::string count = "  mbarrier.arrive.noComplete.shared.b64 %d0, [bar], 2;\n";
  EXPECT_EQ(state_after(kArrive, "2"), 0u);
  EXPECT_EQ(state_after(kArrive + kArrive, "2"), 1u);
  EXPECT_EQ(state_after(count + kArrive, "3"), 1u);
  EXPECT_EQ(state_after("  mbarrier.arrive_drop.shared.b64 %d0, [bar];\n" + kArrive, "2"), 1u);
  const std::string expect = "  mbarrier.arrive.expect_tx.shared.b64 %d0, [bar], 48;\n";
  const std::string complete = "  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 48;\n";
  EXPECT_EQ(state_after(expect, "1"), 0u);
  EXPECT_EQ(state_after(expect + complete, "1"), 1u);
  EXPECT_EQ(state_after(complete + expect, "1"), 1u) << "the bytes came first";
  EXPECT_EQ(
      state_after("  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 48;\n" + kArrive, "1"),
      0u);
  // Who dropped out is not expected in the next phase: one arrival ends it, and its parity is 0.
  EXPECT_EQ(state_after("  mbarrier.arrive_drop.shared.b64 %d0, [bar];\n" + kArrive + kArrive, "2"),
            0u);
}

TEST(Mbarriers, TellWhatIsPending) {
  const Execution run(init("40") + kArrive + "  mbarrier.pending_count.b64 %r7, %d0;\n" +
                      give("r7", "p1"));
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(run.out[lane], 40 - lane);
}

TEST(Mbarriers, MayBeNamedByGenericAddresses) {
  const Execution run(init("32") +
                      "  cvta.shared.u64 %d4, bar;\n  mov.u64 %d4, bar;\n"
                      "  cvta.shared.u64 %d4, %d4;\n  mbarrier.arrive.b64 %d0, [%d4];\n"
                      "  mbarrier.test_wait.b64 %q3, [%d4], %d0;\n" +
                      give_predicate("q3", "p1"));
  EXPECT_EQ(run.codes(), "");
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(run.out[lane], 1u);
}

TEST(Mbarriers, ThatNobodyElseArrivesAtAreADeadlock) {
  const Execution run(init("33") + kArrive + kWait);
  EXPECT_EQ(run.result.status, LaunchStatus::launch_timeout);
  EXPECT_EQ(run.codes(), "RL0307");
}

TEST(Mbarriers, TakeNoMoreArrivalsThanTheyExpect) {
  const Execution run(init("31") + "  mbarrier.arrive.noComplete.shared.b64 %d0, [bar], 1000;\n");
  EXPECT_EQ(run.codes(), "RL0305");
  EXPECT_EQ(Execution(init("0")).codes(), "RL0305");
}

const std::string kCopy =
    "  mul.lo.u32 %r4, %thread, 8;\n  mov.u32 %r5, tile;\n"
    "  cvt.u64.u32 %d4, %r4;\n  add.u32 %r4, %r4, %r5;\n"
    "  add.u64 %d4, %d4, %p0;\n"
    "  cp.async.ca.shared.global [%r4], [%d4], 8;\n";
/// The other warp's copy.
const std::string kReadOther =
    "  xor.b32 %r6, %thread, 32;\n  mul.lo.u32 %r6, %r6, 8;\n"
    "  add.u32 %r6, %r6, %r5;\n  ld.shared.u64 %d5, [%r6];\n" +
    give("d5", "p1");

TEST(Mbarriers, EndTheirPhaseWhenCopiesHaveCome) {
  const std::string arrive = "  cp.async.mbarrier.arrive.shared.b64 [bar];\n" + kArrive;
  const std::string arrive_alone =
      "  cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"
      "  mov.u64 %d0, 0;\n";
  for (const std::string& how : {arrive, arrive_alone}) {
    const Execution run(init("64") + kCopy + how + kWait + kReadOther, 64);
    EXPECT_EQ(run.codes(), "") << how;
    for (unsigned thread = 0; thread < 64; ++thread) {
      EXPECT_EQ(run.out[thread], (thread ^ 32U) + 1) << how;
    }
  }
}

TEST(Mbarriers, EndTheirPhaseWhenABulkCopyHasCome) {
  const std::string copy =
      "  mov.u32 %r5, tile;\n  @%q1 "
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [tile+16], [%p0+32], 528, [bar];\n"
      "  @%q1 mbarrier.arrive.expect_tx.shared.b64 %d0, [bar], 528;\n  mov.u64 %d0, 0;\n";
  const Execution run(init("1") + copy + kWait +
                          "  mul.lo.u32 %r6, %thread, 8;\n  add.u32 %r6, %r6, %r5;\n"
                          "  ld.shared.u64 %d5, [%r6+16];\n" +
                          give("d5", "p1"),
                      64);
  EXPECT_EQ(run.codes(), "");
  for (unsigned thread = 0; thread < 64; ++thread) EXPECT_EQ(run.out[thread], thread + 5);
}

TEST(Mbarriers, FormsWithoutCodeAreRefusedByName) {
  for (const std::string text :
       {"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [bar]",
        "mbarrier.arrive_drop.expect_tx.shared.b64 %d0, [bar], 4", "mbarrier.init.shared.b64 [bar]",
        "mbarrier.test_wait.shared.b64 %q1, [bar]",
        "cp.async.bulk.global.shared::cta.bulk_group [%p0], [bar], 16",
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [bar]",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%p0], [bar], 16",
        "wgmma.fence.sync.aligned", "barrier.cluster.arrive"}) {
    const testing::Device device(
        bench_module(bench_kernel("refused", "  " + std::string(text) + ";\n", kDeclarations)));
    const std::string spelling = std::string(text).substr(0, std::string(text).find(' '));
    EXPECT_NE(refusal_of(device, "refused").find(spelling + " "), std::string::npos)
        << text << " gives: " << refusal_of(device, "refused");
  }
}

std::vector<std::string> mbarrier_instructions() {
  return {"mbarrier.init.shared.b64 [bar], 1;",
          "mbarrier.inval.shared.b64 [bar];",
          "mbarrier.arrive.shared.b64 %d0, [bar];",
          "mbarrier.arrive.noComplete.shared.b64 %d0, [bar], 2;",
          "mbarrier.arrive.expect_tx.shared.b64 %d0, [bar], 48;",
          "mbarrier.arrive_drop.shared.b64 %d0, [bar];",
          "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 48;",
          "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 48;",
          "mbarrier.test_wait.parity.shared.b64 %q3, [bar], 0;",
          "mbarrier.try_wait.shared.b64 %q2, [bar], %d0;",
          "mbarrier.pending_count.b64 %r7, %d0;",
          "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];",
          "setmaxnreg.inc.sync.aligned.u32 40;",
          "griddepcontrol.wait;",
          "fence.mbarrier_init.release.cluster;"};
}
const TestedInstructions kTested{mbarrier_instructions};

}  // namespace
}  // namespace simgpu::opcode_tests::mbarrier_test
