#include <gmock/gmock.h>

#include <algorithm>

#include "simgpu/exec/opcode_tests/bench.h"
#include "simgpu/exec/opcodes/opcode.h"

/// What is counted of local memory, of constants and of parameters.
namespace simgpu::opcode_tests::own_memory_test {
namespace {

constexpr std::uint64_t kAll = 0xffffffff;

/// Of one warp that executes `body`.
KernelCounters counters_of(const std::string& body, const std::string& declarations = "",
                           const std::string& variables = "") {
  testing::Device device(bench_module(bench_kernel("counted", body, declarations), variables));
  const LaunchResult result = device.run("counted", {}, kAll, kAll, kAll, kAll, kAll, kAll);
  EXPECT_EQ(trouble(result), "");
  return result.counters;
}

/// Uses a register, without which the assembler would leave out what computes it.
std::string use(const std::string& type, const std::string& name) {
  return "  setp.eq." + type + " %kept, " + name + ", 77;\n  @%kept trap;\n";
}
constexpr const char* kKept = "  .reg .pred %kept;\n";

constexpr const char* kOwn = "  .local .align 16 .b8 own[256];\n";

TEST(OwnMemory, IsCountedInTheSectorsAndLinesThatTheHardwareInterleavesItIn) {
  const KernelCounters c = counters_of(
      "  mov.u32 %r4, own;\n  st.local.u32 [%r4], %lane;\n  ld.local.u32 %r5, [%r4];\n", kOwn);
  EXPECT_EQ(c.local_load_requests, 1U);
  EXPECT_EQ(c.local_store_requests, 1U);
  EXPECT_EQ(c.local_load_sectors, 4U);
  EXPECT_EQ(c.local_store_sectors, 4U);
  EXPECT_EQ(c.local_tag_lookups, 2U);
  EXPECT_EQ(c.local_touched_sectors, 4U) << "of which there is no more than one row";
}

TEST(OwnMemory, ThatLanesIndexDifferentlyTouchesALineForEach) {
  const KernelCounters c = counters_of(
      "  mov.u32 %r4, own;\n  mad.lo.u32 %r4, %lane, 4, %r4;\n  st.local.u32 [%r4], %lane;\n",
      kOwn);
  EXPECT_EQ(c.local_store_sectors, 32U);
  EXPECT_EQ(c.local_tag_lookups, 32U);
  EXPECT_EQ(c.local_touched_sectors, 32U);
}

TEST(OwnMemory, IsTheSameByGenericAddresses) {
  const KernelCounters c = counters_of(
      "  mov.u64 %d0, own;\n  cvta.local.u64 %d0, %d0;\n  st.v4.u32 [%d0], {%lane, %lane, %lane, "
      "%lane};\n",
      kOwn);
  EXPECT_EQ(c.local_store_requests, 1U);
  EXPECT_EQ(c.local_store_sectors, 16U);
  EXPECT_EQ(c.local_tag_lookups, 4U);
}

constexpr const char* kTable = ".const .align 4 .b8 table[256];\n";

TEST(Constants, AreOneWavefrontWhereAllLanesReadOneWord) {
  const KernelCounters c = counters_of("  ld.const.u32 %r4, [table+4];\n", "", kTable);
  EXPECT_EQ(c.constant_load_requests, 1U);
  EXPECT_EQ(c.constant_load_wavefronts, 1U);
}

TEST(Constants, AreAsManyWavefrontsAsLanesReadWords) {
  const KernelCounters c = counters_of(
      "  mov.u64 %d0, table;\n  mad.wide.u32 %d0, %lane, 4, %d0;\n  ld.const.u32 %r4, [%d0];\n"
      "  ld.const.u8 %r5, [%d0];\n  setp.lt.u32 %q1, %lane, 5;\n  @%q1 ld.const.u32 %r4, [%d0];\n",
      "", kTable);
  EXPECT_EQ(c.constant_load_requests, 3U);
  EXPECT_EQ(c.constant_load_wavefronts, 32U + 32U + 5U);
}

TEST(Constants, AreNowhereElse) {
  testing::Device device(bench_module(
      bench_kernel("reads_in", "  mov.u64 %d0, table;\n  ld.const.u32 %r4, [%d0];\n", "") +
          bench_kernel("reads_global", "  mov.u64 %d0, plain;\n  ld.const.u32 %r4, [%d0];\n", ""),
      std::string(kTable) + ".global .align 4 .b8 plain[256];\n"));
  const auto run = [&](const char* kernel) {
    return device.run(kernel, {}, kAll, kAll, kAll, kAll, kAll, kAll);
  };
  EXPECT_EQ(trouble(run("reads_in")), "");
  const LaunchResult result = run("reads_global");
  EXPECT_EQ(result.status, LaunchStatus::illegal_address);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].code, Code("RL0201"));
  EXPECT_THAT(result.findings[0].message, ::testing::HasSubstr("constant-memory access"));
}

TEST(Parameters, AreCountedOnlyWhereLanesReadDifferentOnes) {
  EXPECT_EQ(counters_of("  mov.u32 %r4, 0;\n").constant_load_requests, 0U)
      << "though it loads its parameters";
  const KernelCounters c = counters_of(
      "  and.b32 %r4, %lane, 3;\n  shl.b32 %r4, %r4, 3;\n  cvt.u64.u32 %d0, %r4;\n"
      "  ld.param.u64 %d1, [%d0];\n");
  EXPECT_EQ(c.constant_load_requests, 1U);
  EXPECT_EQ(c.constant_load_wavefronts, 4U);
}

TEST(Parameters, TakeAnIssueSlotWhereTheAssemblerDoesNotKnowThePlace) {
  const auto loads = [](const std::string& body) {
    const KernelCounters c = counters_of(body + use("u64", "%d1"), kKept);
    const auto found = c.instructions_by_class.find("constant_load");
    return found == c.instructions_by_class.end() ? 0U : found->second;
  };
  EXPECT_EQ(loads("  ld.param.u64 %d1, [8];\n"), 0U);
  EXPECT_EQ(loads("  mov.u64 %d0, 8;\n  add.u64 %d0, %d0, 8;\n  ld.param.u64 %d1, [%d0];\n"), 1U)
      << "written twice: it may be an index";
  EXPECT_EQ(loads("  mov.u64 %d0, 8;\n  add.u64 %d2, %d0, 8;\n  ld.param.u64 %d1, [%d2];\n"), 0U)
      << "the sum of numbers";
  EXPECT_EQ(
      loads("  and.b32 %r4, %lane, 0;\n  cvt.u64.u32 %d0, %r4;\n  ld.param.u64 %d1, [%d0];\n"), 1U)
      << "the same word for all lanes, but by an index";
}

TEST(Moves, UnderAPredicateAreSelects) {
  const auto integers = [](const std::string& move) {
    return counters_of(
               "  .reg .pred %q;\n  mov.u32 %r4, 0;\n  mov.u64 %d1, 0;\n"
               "  setp.ne.u32 %q, %lane, 3;\n" +
                   move + "  @%q bra LATER;\nLATER:\n" + use("u32", "%r4") + use("u64", "%d1"),
               kKept)
        .instructions_by_class["integer"];
  };
  const std::uint64_t none = integers("");
  EXPECT_EQ(integers("  mov.u32 %r4, %lane;\n"), none) << "the assembler folds it";
  EXPECT_EQ(integers("  @%q mov.u32 %r4, %lane;\n"), none + 1);
  EXPECT_EQ(integers("  @%q mov.b64 %d1, {%r4, %lane};\n"), none + 1);
}

TEST(Sequences, AreToldOfEachOpcodeThatPtxasMakesSeveralInstructionsOf) {
  const InstructionSet& table = instruction_set();
  const auto sequence = [&](const char* spelling) {
    return table.find_row(spelling)->cost.sequence;
  };
  EXPECT_EQ(sequence("div.u32").instructions(), 18U);
  EXPECT_EQ(sequence("rem.s64").integer, 70);
  EXPECT_EQ(sequence("div.rn.f32").special, 2);
  EXPECT_EQ(sequence("sqrt.rn.ftz.f32").fp32, 4);
  EXPECT_EQ(sequence("div.rn.f64").fp64, 8);
  EXPECT_TRUE(sequence("rcp.approx.ftz.f32").empty());
  EXPECT_TRUE(sequence("add.u32").empty());
  testing::Device device(bench_module(bench_kernel("divides", "  div.u32 %r4, %r4, %lane;\n")));
  const KernelInfo* kernel = find_kernel(device.program(), "divides");
  const auto divides = [](const InstructionInfo& info) { return !info.sequence.empty(); };
  EXPECT_EQ(std::ranges::count_if(kernel->instructions, divides), 1);
}

}  // namespace
}  // namespace simgpu::opcode_tests::own_memory_test
