#include <gtest/gtest.h>

#include "simgpu/exec/opcode_tests/bench.h"

/// Loads of local variables that compilers move out of branches, and whose values a selp may drop.
namespace simgpu::opcode_tests {
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
    EXPECT_EQ(result.findings[0].code, "RL0208");
    EXPECT_EQ(result.findings[0].occurrences, 16u);
  }
}

}  // namespace
}  // namespace simgpu::opcode_tests
