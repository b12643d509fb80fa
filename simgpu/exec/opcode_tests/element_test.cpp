#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "simgpu/exec/opcode_tests/bench.h"

/// array[register+offset]: which element it is, in every kind of memory. The assembler computes the
/// element's place in the array in 32 bits.
namespace simgpu::opcode_tests::element_test {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<std::uint64_t>;

constexpr std::uint64_t kAll = 0xFFFFFFFFu;
constexpr unsigned kElements = 64;

/// Runs `body` with the lanes' `indexes` in %p0 and room for results in %p2.
Values run(const std::string& body, const Values& indexes, const std::string& declarations = "",
           const std::string& variables = "") {
  testing::Device device(bench_module(bench_kernel("elements", body, declarations), variables));
  EXPECT_EQ(refusal_of(device, "elements"), "");
  const std::uint64_t in = device.put(indexes);
  const std::uint64_t out = device.put(Values(kWarpLanes));
  EXPECT_EQ(trouble(device.run("elements", {}, in, in, out, out, out, kAll)), "");
  return device.get<std::uint64_t>(out, kWarpLanes);
}

/// Each lane's own element, and not in order.
unsigned index_of(unsigned lane) { return lane * 11 % 32; }

Values some_indexes() {
  Values indexes(kWarpLanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) indexes[lane] = index_of(lane);
  return indexes;
}

/// 1000, 1003, 1006 and so on as initial values.
std::string initial_values() {
  std::string text = "{";
  for (unsigned i = 0; i < kElements; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(1000 + 3 * i);
  }
  return text + "}";
}

void expect_elements(const Values& found, unsigned further) {
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    EXPECT_EQ(found[lane], 1000 + 3 * (index_of(lane) + further)) << "lane " << lane;
  }
}

TEST(ElementByRegister, IsLoadedFromGlobalAndConstantMemory) {
  for (const std::string space : {"global", "const"}) {
    for (const std::string type : {"u16", "u32", "u64"}) {
      for (const std::string& from : {space, std::string("generic")}) {
        if (from == "generic" && space == "const") continue;
        const std::string opcode = from == "generic" ? "ld." : "ld." + space + ".";
        const Values found =
            run(take("r0", "p0") + "  " + opcode + type + " %d0, numbers[%r0+4*2];\n" +
                    give("d0", "p2"),
                some_indexes(), "",
                "." + space + " ." + type + " numbers[64] = " + initial_values() + ";\n");
        SCOPED_TRACE(opcode + type + " from " + space);
        expect_elements(found, 8);
      }
    }
  }
}

/// What is stored by one register's index is loaded by another's, so that both have to be right.
TEST(ElementByRegister, IsStoredAndLoadedInSharedAndLocalMemory) {
  for (const std::string space : {"shared", "local"}) {
    for (const std::string& access : {"." + space, std::string()}) {
      const std::string body = take("r0", "p0") +
                               "  mul.lo.u32 %r1, %r0, 3;\n  add.u32 %r1, %r1, 1021;\n"
                               "  st" +
                               access +
                               ".u32 own[%r0+7], %r1;\n"
                               "  mov.u64 %d1, own;\n  mad.wide.u32 %d1, %r0, 4, %d1;\n"
                               "  ld." +
                               space +
                               ".u32 %r2, [%d1+28];\n"
                               "  ld" +
                               access +
                               ".u32 %r3, own[%r0+7];\n"
                               "  setp.ne.u32 %q1, %r2, %r3;\n  @%q1 mov.u32 %r3, 0;\n" +
                               give("r3", "p2");
      SCOPED_TRACE("st" + access + " to " + space);
      expect_elements(run(body, some_indexes(),
                          "  ." + space + " .u32 before[3];\n  ." + space + " .u32 own[64];\n"),
                      7);
    }
  }
}

TEST(ElementByRegister, IsLoadedFromAKernelParameter) {
  const std::string kernel =
      ".visible .entry k(.param .u32 table[32], .param .u64 out)\n{\n  .reg .b32 %r<2>;\n"
      "  .reg .b64 %d<2>;\n  mov.u32 %r0, %tid.x;\n  and.b32 %r1, %r0, 15;\n"
      "  ld.param.u32 %r1, table[%r1+4];\n  ld.param.u64 %d0, [out];\n"
      "  mad.wide.u32 %d0, %r0, 4, %d0;\n  st.global.u32 [%d0], %r1;\n  ret;\n}\n";
  testing::Device device(bench_module(kernel));
  ASSERT_EQ(refusal_of(device, "k"), "");
  std::array<std::uint32_t, 32> table;
  for (unsigned i = 0; i < table.size(); ++i) table[i] = 500 + 7 * i;
  const std::uint64_t out = device.put(std::vector<std::uint32_t>(kWarpLanes));
  ASSERT_EQ(trouble(device.run("k", {}, table, out)), "");
  const auto found = device.get<std::uint32_t>(out, kWarpLanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    EXPECT_EQ(found[lane], 500 + 7 * (lane % 16 + 4)) << "lane " << lane;
  }
}

TEST(ElementByRegister, IsChangedByAtomics) {
  const std::string body = take("r0", "p0") +
                           "  atom.shared.add.u32 %r1, sums[%r0+1], 5;\n"
                           "  red.shared.add.u32 sums[%r0+1], 2;\n  bar.sync 0;\n"
                           "  atom.shared.add.u32 %r1, sums[%r0+1], 0;\n" +
                           give("r1", "p2");
  const Values found = run("  st.shared.u32 sums[%lane+1], %lane;\n  bar.sync 0;\n" + body,
                           some_indexes(), "  .shared .u32 sums[64];\n");
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    EXPECT_EQ(found[lane], index_of(lane) + 7) << "lane " << lane;
  }
}

/// The difference between the element's address and the array's, for an index in `type`.
Values distances(const std::string& space, const std::string& declaration,
                 const std::string& index_register, const Values& indexes,
                 const std::string& index) {
  const bool module_scope = space == "global";
  const std::string variables = "." + space + " " + declaration + ";\n";
  return run(take(index_register, "p0") + "  mov.u64 %d1, a[" + index +
                 "];\n  mov.u64 %d2, a;\n  sub.u64 %d1, %d1, %d2;\n" + give("d1", "p2"),
             indexes, module_scope ? "" : "  " + variables, module_scope ? variables : "");
}

TEST(ElementByRegister, LiesThirtyTwoBitsOfBytesBehindTheArray) {
  Values indexes = random_values(kWarpLanes, 3);
  indexes[0] = 0xFFFFFFFF;
  indexes[1] = 0x40000000;
  indexes[2] = 0x1'0000'0002;
  const auto expect = [&](const Values& found, std::uint64_t mask, std::uint32_t further,
                          std::uint32_t bytes, const char* what) {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      const std::uint32_t index = static_cast<std::uint32_t>(indexes[lane] & mask) + further;
      EXPECT_EQ(found[lane], index * bytes) << what << ", index " << indexes[lane];
    }
  };
  expect(distances("global", ".u32 a[64]", "r0", indexes, "%r0+5"), kAll, 5, 4, "32 bits");
  expect(distances("global", ".u64 a[64]", "d0", indexes, "%d0"), kAll, 0, 8,
         "of 64 bits, the lower half");
  expect(distances("global", ".u16 a[64]", "h0", indexes, "%h0+9"), 0xFFFF, 9, 2,
         "16 bits, zero-extended");
  expect(distances("global", ".v4 .f32 a[64]", "r0", indexes, "%r0+1"), kAll, 1, 4,
         "vectors count as their scalars");
}

TEST(ElementByRegister, KeepsTo32BitsInSharedMemory) {
  const Values indexes(kWarpLanes, 0xFFFFFFFF);
  const Values found = run(take("r0", "p0") +
                               "  mov.u64 %d1, a[%r0];\n  mov.u64 %d2, a;\n"
                               "  mov.u32 %r3, a[%r0+2];\n  sub.u64 %d1, %d2, %d1;\n"
                               "  cvt.u64.u32 %d3, %r3;\n  sub.u64 %d3, %d3, %d2;\n"
                               "  mad.lo.u64 %d1, %d1, 100, %d3;\n" +
                               give("d1", "p2"),
                           indexes, "  .shared .u32 before[4];\n  .shared .u32 a[4];\n");
  for (const std::uint64_t value : found) {
    EXPECT_EQ(value, 404U) << "a[-1] is four bytes below, a[-1 + 2] four bytes above";
  }
}

TEST(ElementByRegister, HasAGenericAddress) {
  const std::string body = take("r0", "p0") +
                           "  mul.lo.u32 %r1, %r0, 3;\n  add.u32 %r1, %r1, 1000;\n"
                           "  st.shared.u32 own[%r0], %r1;\n"
                           "  cvta.shared.u64 %d1, own[%r0];\n  ld.u32 %r2, [%d1];\n" +
                           give("r2", "p2");
  expect_elements(run(body, some_indexes(), "  .shared .u32 own[64];\n"), 0);
}

TEST(ElementByRegister, BehindTheArrayIsOutOfBounds) {
  testing::Device device(bench_module(bench_kernel(
      "k", take("r0", "p0") + "  st.shared.u32 own[%r0+1], %r0;\n", "  .shared .u32 own[64];\n")));
  const std::uint64_t in = device.put(Values(kWarpLanes, 63));
  EXPECT_THAT(trouble(device.run("k", {}, in, in, in, in, in, kAll)), HasSubstr("own"));
}

TEST(Predicates, AreNotSpecialRegistersNorSymbolsNorFloats) {
  for (const std::string operand : {"%tid.x", "%laneid", "%clock64", "numbers", "1.0"}) {
    const testing::Device device(
        bench_module(bench_kernel("k", "  selp.u32 %r0, 1, 2, " + operand + ";\n"),
                     ".global .u32 numbers[4];\n"));
    const std::string named = operand == "1.0" ? "this operand" : operand;
    EXPECT_THAT(refusal_of(device, "k"), HasSubstr("selp.u32 with " + named + " for a predicate"));
  }
}

}  // namespace
}  // namespace simgpu::opcode_tests::element_test
