#include <gtest/gtest.h>

#include "simgpu/exec/opcode_tests/bench.h"

/// Reads of unwritten memory that are none in the source: loads that compilers move out of branches
/// and whose values a selp drops, and bytes of a load that nobody uses.
namespace simgpu::opcode_tests::dropped_values_test {
namespace {

using Values = std::vector<std::uint64_t>;

constexpr std::uint64_t kEvenLanes = 0x55555555;

/// A kernel in which the lanes of %q0 write their local variable, before `body` reads it.
LaunchResult run(const std::string& body, std::uint64_t lanes, Values* out = nullptr) {
  testing::Device device(bench_module(bench_kernel(
      "kernel", "  mov.u64 %d0, own;\n  @%q0 st.local.u32 [%d0], 7;\n" + body + give("r2", "p0"),
      "  .local .align 4 .b8 own[4];\n")));
  EXPECT_EQ(refusal_of(device, "kernel"), "");
  const std::uint64_t room = device.put(Values(32));
  LaunchResult result = device.run("kernel", {}, room, room, room, room, room, lanes);
  if (out != nullptr) *out = device.get<std::uint64_t>(room, 32);
  return result;
}

TEST(SpeculatedLoad, IsNotToldOfWhereItsValueIsDropped) {
  const std::string load = "  ld.local.u32 %r1, [%d0];\n";
  for (const std::string& body :
       {load + "  selp.b32 %r2, %r1, 1, %q0;\n",
        "  not.pred %q1, %q0;\n" + load + "  selp.b32 %r2, 1, %r1, %q1;\n"}) {
    Values out;
    EXPECT_EQ(trouble(run(body, kEvenLanes, &out)), "");
    for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane % 2 == 0 ? 7u : 1u);
  }
}

TEST(SpeculatedLoad, IsToldOfWhereItsValueIsKept) {
  const std::string load = "  ld.local.u32 %r1, [%d0];\n";
  for (const std::string& body :
       {load + "  selp.b32 %r2, 1, %r1, %q0;\n",                                 // the other lanes
        load + "  selp.b32 %r2, %r1, 1, %q0;\n  add.u32 %r2, %r2, %r1;\n",       // used again
        load + "  setp.ne.u32 %q0, %lane, 99;\n  selp.b32 %r2, %r1, 1, %q0;\n",  // known later
        load + "  mov.u32 %r2, %r1;\n"}) {
    const LaunchResult result = run(body, kEvenLanes);
    ASSERT_EQ(result.findings.size(), 1u) << body;
    EXPECT_EQ(result.findings[0].code, Code("RL0208"));
    EXPECT_EQ(result.findings[0].occurrences, 16u);
  }
}

/// A kernel that loads a word of 8 bytes into %d1, of which only the first byte has been written.
LaunchResult read_word(const std::string& body) {
  testing::Device device(bench_module(
      bench_kernel("kernel", "  ld.global.u64 %d1, [%p0];\n" + body + give("r2", "p1"))));
  EXPECT_EQ(refusal_of(device, "kernel"), "");
  const std::uint64_t word = device.put(Values(1));
  device.memory().mark_uninitialized(word + 1, 7);
  const std::uint64_t room = device.put(Values(32));
  return device.run("kernel", {}, word, room, room, room, room, kEvenLanes);
}

TEST(UnusedBytes, MayBeUnwritten) {
  for (const std::string body :
       {"  cvt.u16.u64 %h1, %d1;\n  and.b16 %h2, %h1, 255;\n  cvt.u32.u16 %r3, %h2;\n"
        "  add.u32 %r2, %r3, 1;\n",
        "  mov.u64 %d2, %d1;\n  selp.b64 %d3, %d2, %d1, %q0;\n  cvt.u32.u64 %r3, %d3;\n"
        "  and.b32 %r2, %r3, 129;\n  setp.eq.u32 %q1, %r2, 0;\n",
        "  mov.u32 %r1, 0;\n$again:\n  cvt.u32.u64 %r3, %d1;\n  and.b32 %r2, %r3, 1;\n"
        "  add.u32 %r1, %r1, %r2;\n  setp.gt.u32 %q1, %r1, 3;\n  @%q1 bra $again;\n"}) {
    EXPECT_EQ(trouble(read_word(body)), "") << body;
  }
}

TEST(UnusedBytes, MayBeComparedWhereNothingDependsOnIt) {
  EXPECT_EQ(trouble(read_word("  setp.eq.u64 %q1, %d1, 0;\n  mov.u32 %r2, 0;\n")), "");
}

TEST(UnusedBytes, AreToldOfAsSoonAsOneIsUsed) {
  for (const std::string body :
       {"  cvt.u32.u64 %r2, %d1;\n  and.b32 %r2, %r2, 256;\n  add.u32 %r2, %r2, 1;\n",
        "  cvt.u32.u64 %r2, %d1;\n  shr.u32 %r2, %r2, 1;\n",
        "  cvt.s32.s64 %r2, %d1;\n  neg.s32 %r2, %r2;\n",
        "  cvt.u16.u64 %h1, %d1;\n  cvt.s32.s16 %r2, %h1;\n  add.u32 %r2, %r2, 1;\n",
        "  setp.eq.u64 %q1, %d1, 0;\n  selp.b32 %r2, 1, 0, %q1;\n"}) {
    const LaunchResult result = read_word(body);
    ASSERT_EQ(result.findings.size(), 1u) << body;
    EXPECT_EQ(result.findings[0].code, Code("RL0205"));
  }
}

TEST(UnwrittenSharedMemory, IsTheAffairOfALibraryInItsOwnKernels) {
  const std::string body = "  mov.u32 %r1, room;\n  ld.shared.u32 %r2, [%r1];\n";
  for (const auto& [name, count] : {std::pair{"_ZN3cub5mergeEv", 0u}, std::pair{"merge", 1u}}) {
    testing::Device device(bench_module(
        bench_kernel(name, body + give("r2", "p0"), "  .shared .align 4 .b8 room[4];\n")));
    const std::uint64_t room = device.put(Values(32));
    const LaunchResult result = device.run(name, {}, room, room, room, room, room, kEvenLanes);
    EXPECT_EQ(result.findings.size(), count);
  }
}

}  // namespace
}  // namespace simgpu::opcode_tests::dropped_values_test
