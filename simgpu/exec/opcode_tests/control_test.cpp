#include <gtest/gtest.h>

#include "simgpu/exec/opcode_tests/bench.h"
#include "simgpu/exec/opcode_tests/tested_instructions.h"

/// Branches, calls and barriers, against the values that each thread's own way gives.
namespace simgpu::opcode_tests::control_test {
namespace {

using Values = std::vector<std::uint64_t>;

constexpr std::uint32_t kAll = 0xFFFFFFFFu;
constexpr unsigned kTargets = 5;

/// Each target multiplies by a number of its own and falls into the next one or leaves.
std::string table_kernel(const std::string& uni) {
  std::string body = take("r0", "p0") + "  mov.u32 %r1, 1;\n  @!%q0 bra $away;\n";
  std::string table = "$table: .branchtargets ";
  for (unsigned i = 0; i < kTargets; ++i) {
    table += (i == 0 ? "$target" : ", $target") + std::to_string(i);
  }
  body += table + ";\n  brx.idx" + uni + " %r0, $table;\n";
  for (unsigned i = 0; i < kTargets; ++i) {
    body += "$target" + std::to_string(i) + ":\n  mad.lo.u32 %r1, %r1, 10, " +
            std::to_string(i + 2) + ";\n";
    if (i % 2 == 1) body += "  bra $together;\n";
  }
  return bench_kernel("table", body + "$together:\n  add.u32 %r1, %r1, 1000000;\n$away:\n" +
                                   "  activemask.b32 %r2;\n" + give("r1", "p1", 0, 2) +
                                   give("r2", "p1", 1, 2));
}

std::uint64_t walked(std::uint64_t target) {
  std::uint64_t value = 1;
  for (std::uint64_t i = target; i < kTargets; ++i) {
    value = value * 10 + i + 2;
    if (i % 2 == 1) break;
  }
  return value + 1000000;
}

TEST(BranchTables, SendEachLaneItsWayAndBringAllTogether) {
  testing::Device device(bench_module(table_kernel("")));
  ASSERT_EQ(refusal_of(device, "table"), "");
  std::vector<Values> all;
  for (unsigned target = 0; target < kTargets; ++target) all.emplace_back(kWarpLanes, target);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Values random = random_values(kWarpLanes, seed);
    for (std::uint64_t& target : random) target %= seed < 3 ? kTargets : 2;
    all.push_back(random);
  }
  for (const Values& targets : all) {
    for (const std::uint32_t executing : {kAll, 0x8001f00fu, 0u}) {
      const std::uint64_t out = device.put(Values(2 * kWarpLanes));
      ASSERT_EQ(trouble(device.run("table", {}, device.put(targets), out, out, out, out,
                                   std::uint64_t{executing})),
                "");
      const Values found = device.get<std::uint64_t>(out, 2 * kWarpLanes);
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        const bool executes = (executing >> lane & 1) != 0;
        ASSERT_EQ(found[2 * lane], executes ? walked(targets[lane]) : 1) << "lane " << lane;
        ASSERT_EQ(found[2 * lane + 1], kAll) << "lane " << lane << " is not back";
      }
    }
  }
}

TEST(BranchTables, UniformOnesAndIndexesBeyondTheEnd) {
  testing::Device device(bench_module(table_kernel(".uni")));
  const std::uint64_t out = device.put(Values(2 * kWarpLanes));
  ASSERT_EQ(trouble(device.run("table", {}, device.put(Values(kWarpLanes, 3)), out, out, out, out,
                               std::uint64_t{kAll})),
            "");
  EXPECT_EQ(device.get<std::uint64_t>(out, 1)[0], walked(3));
  const LaunchResult beyond = device.run("table", {}, device.put(Values(kWarpLanes, kTargets)), out,
                                         out, out, out, std::uint64_t{kAll});
  EXPECT_EQ(beyond.status, LaunchStatus::trap);
  ASSERT_FALSE(beyond.findings.empty());
  EXPECT_EQ(beyond.findings.front().code, Code("RL0311"));
}

/// Arguments of every size go through .param space; half of the lanes return early.
TEST(Calls, PassArgumentsAndResultsOfEverySize) {
  const std::string function =
      ".func (.param .b64 sum) add_up(.param .b32 word, .param .b64 wide, .param .b16 half,\n"
      "  .param .align 8 .b8 pair[16])\n{\n"
      "  .reg .b64 %s, %t;\n  .reg .b32 %w;\n  .reg .b16 %h;\n  .reg .pred %odd;\n"
      "  ld.param.b32 %w, [word];\n  cvt.u64.u32 %s, %w;\n  st.param.b64 [sum], %s;\n"
      "  and.b32 %w, %w, 1;\n  setp.ne.u32 %odd, %w, 0;\n  @%odd ret;\n"
      "  ld.param.b64 %t, [wide];\n  add.u64 %s, %s, %t;\n"
      "  ld.param.b16 %h, [half];\n  cvt.u64.u16 %t, %h;\n  add.u64 %s, %s, %t;\n"
      "  ld.param.b64 %t, [pair+8];\n  mad.lo.u64 %s, %t, 3, %s;\n"
      "  st.param.b64 [sum], %s;\n  ret;\n}\n";
  const std::string body =
      take("d0", "p0") + take("d1", "p1") +
      "  mov.u64 %d2, 0;\n  cvt.u32.u64 %r0, %d0;\n  cvt.u16.u64 %h0, %d1;\n  @!%q0 bra $past;\n"
      "  {\n  .param .b64 result;\n  .param .b32 one;\n  .param .b64 two;\n  .param .b16 three;\n"
      "  .param .align 8 .b8 four[16];\n  st.param.b32 [one], %r0;\n  st.param.b64 [two], %d1;\n"
      "  st.param.b16 [three], %h0;\n  st.param.v2.b64 [four], {%d0, %d1};\n"
      "  call.uni (result), add_up, (one, two, three, four);\n  ld.param.b64 %d2, [result];\n  }\n"
      "$past:\n" +
      give("d2", "p2");
  testing::Device device(bench_module(function + bench_kernel("caller", body)));
  ASSERT_EQ(refusal_of(device, "caller"), "");
  const Values a = random_values(kWarpLanes, 1);
  const Values b = random_values(kWarpLanes, 2);
  constexpr std::uint32_t kCalling = 0xf3c5a96eu;
  const std::uint64_t out = device.put(Values(kWarpLanes));
  ASSERT_EQ(trouble(device.run("caller", {}, device.put(a), device.put(b), out, out, out,
                               std::uint64_t{kCalling})),
            "");
  const Values found = device.get<std::uint64_t>(out, kWarpLanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const std::uint64_t word = a[lane] & kAll;
    const std::uint64_t sum = word % 2 == 1 ? word : word + 4 * b[lane] + (b[lane] & 0xffff);
    EXPECT_EQ(found[lane], (kCalling >> lane & 1) != 0 ? sum : 0) << "lane " << lane;
  }
}

/// bar.red over three warps, with votes of every kind; the threads that leave first count as none.
TEST(Barriers, ReduceTheVotesOfABlock) {
  testing::Device device(bench_module(bench_kernel(
      "votes", take("r0", "p0") +
                   "  setp.ne.u32 %q1, %r0, 0;\n  bar.red.popc.u32 %r1, 1, %q1;\n"
                   "  bar.red.and.pred %q2, 2, %q1;\n  bar.red.or.pred %q3, 3, 96, !%q1;\n"
                   "  bar.arrive 4, 96;\n  bar.sync 5, 96;\n  barrier.sync 6;\n" +
                   give("r1", "p1", 0, 3) + give_predicate("q2", "p1", 1, 3) +
                   give_predicate("q3", "p1", 2, 3))));
  ASSERT_EQ(refusal_of(device, "votes"), "");
  constexpr unsigned kThreads = 96;
  for (const unsigned ones : {0u, 1u, 33u, 95u, 96u}) {
    Values votes(kThreads);
    for (unsigned i = 0; i < ones; ++i) votes[i * 7 % kThreads] = 1;
    const std::uint64_t out = device.put(Values(3 * kThreads));
    testing::Launch launch;
    launch.block = {kThreads, 1, 1};
    ASSERT_EQ(trouble(device.run("votes", launch, device.put(votes), out, out, out, out,
                                 std::uint64_t{kAll})),
              "");
    const Values found = device.get<std::uint64_t>(out, 3 * kThreads);
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      EXPECT_EQ(found[3 * thread], ones);
      EXPECT_EQ(found[3 * thread + 1], ones == kThreads ? 1u : 0u);
      EXPECT_EQ(found[3 * thread + 2], ones < kThreads ? 1u : 0u);
    }
  }
}

TEST(Exits, EndSomeLanesAndLeaveTheOthers) {
  testing::Device device(bench_module(
      bench_kernel("leave", "  mov.u32 %r0, 1;\n" + give("r0", "p0") + "  @%q0 exit;\n" +
                                "  activemask.b32 %r0;\n" + give("r0", "p0"))));
  constexpr std::uint32_t kLeaving = 0x00ff1248u;
  const std::uint64_t out = device.put(Values(kWarpLanes));
  ASSERT_EQ(trouble(device.run("leave", {}, out, out, out, out, out, std::uint64_t{kLeaving})), "");
  const Values found = device.get<std::uint64_t>(out, kWarpLanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    EXPECT_EQ(found[lane], (kLeaving >> lane & 1) != 0 ? 1u : ~kLeaving);
  }
}

TEST(Traps, EndTheLaunch) {
  for (const std::string opcode : {"trap", "brkpt"}) {
    testing::Device device(bench_module(
        bench_kernel("stop", "  @%q0 bra $stop;\n  ret;\n$stop:\n  " + opcode + ";\n")));
    const std::uint64_t some = device.put(Values(1));
    EXPECT_EQ(device.run("stop", {}, some, some, some, some, some, std::uint64_t{0}).status,
              LaunchStatus::ok);
    EXPECT_EQ(device.run("stop", {}, some, some, some, some, some, std::uint64_t{4}).status,
              LaunchStatus::trap);
  }
}

/// The carry of lanes whose guard is off stays what it was.
TEST(Carries, BelongToTheirLane) {
  testing::Device device(bench_module(
      bench_kernel("carry", take("d0", "p0") + take("d1", "p1") +
                                "  cvt.u32.u64 %r0, %d0;\n  cvt.u32.u64 %r1, %d1;\n"
                                "  add.cc.u32 %r2, %r0, %r1;\n  @%q0 sub.cc.u32 %r3, %r1, %r0;\n"
                                "  addc.u32 %r2, 0, 0;\n" +
                                give("r2", "p2"))));
  const Values a = random_values(kWarpLanes, 3);
  const Values b = random_values(kWarpLanes, 4);
  const std::uint64_t out = device.put(Values(kWarpLanes));
  ASSERT_EQ(trouble(device.run("carry", {}, device.put(a), device.put(b), out, out, out,
                               std::uint64_t{0})),
            "");
  const Values found = device.get<std::uint64_t>(out, kWarpLanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    EXPECT_EQ(found[lane], ((a[lane] & kAll) + (b[lane] & kAll)) >> 32) << "lane " << lane;
  }
}

std::vector<std::string> control_instructions() {
  return {"bra $away;",
          "brx.idx %r0, $table;",
          "call.uni (result), add_up, (one);",
          "ret;",
          "exit;",
          "trap;",
          "brkpt;",
          "bar.sync 5;",
          "barrier.sync 6;"};
}
const TestedInstructions kTested{control_instructions};

}  // namespace
}  // namespace simgpu::opcode_tests::control_test
