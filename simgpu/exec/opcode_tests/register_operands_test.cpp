#include <gtest/gtest.h>

#include "simgpu/exec/opcode_tests/bench.h"

/// What nvcc does not write and ptxas takes: calls that pass registers and literals, a register and
/// a literal as one operand, vectors of 8-bit registers.
namespace simgpu::opcode_tests::register_operands_test {
namespace {

using Values = std::vector<std::uint64_t>;
constexpr std::uint64_t kAll = 0xFFFFFFFFu;
constexpr std::uint32_t kSomeLanes = 0xf3c5a96eu;

/// Runs `body`, which takes its inputs from %p0 and %p1 and leaves its results in %p2.
Values results_of(const std::string& functions, const std::string& body, const Values& a,
                  const Values& b, std::uint64_t executing = kAll,
                  const std::string& declarations = "") {
  testing::Device device(bench_module(functions + bench_kernel("kernel", body, declarations)));
  EXPECT_EQ(refusal_of(device, "kernel"), "");
  const std::uint64_t out = device.put(Values(kWarpLanes));
  EXPECT_EQ(
      trouble(device.run("kernel", {}, device.put(a), device.put(b), out, out, out, executing)),
      "");
  return device.get<std::uint64_t>(out, kWarpLanes);
}

TEST(CallsWithRegisters, PassThemToParametersInRegisters) {
  const std::string function =
      ".func (.reg .u64 sum) add_up(.reg .u32 word, .reg .u64 wide, .reg .u32 factor)\n{\n"
      "  cvt.u64.u32 sum, word;\n  mul.lo.u32 word, word, factor;\n"
      "  cvt.u64.u32 sum, word;\n  add.u64 sum, sum, wide;\n  ret;\n}\n";
  const Values a = random_values(kWarpLanes, 1), b = random_values(kWarpLanes, 2);
  const Values found =
      results_of(function,
                 take("d0", "p0") + take("d1", "p1") +
                     "  cvt.u32.u64 %r0, %d0;\n  mov.u64 %d2, 7;\n"
                     "  @%q0 call (%d2), add_up, (%r0, %d1, 3);\n  cvt.u64.u32 %d3, %r0;\n"
                     "  add.u64 %d2, %d2, %d3;\n" +
                     give("d2", "p2"),
                 a, b, kSomeLanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const std::uint64_t word = a[lane] & kAll;
    const std::uint64_t sum = (3 * word & kAll) + b[lane];
    EXPECT_EQ(found[lane], word + ((kSomeLanes >> lane & 1) != 0 ? sum : 7)) << "lane " << lane;
  }
}

TEST(CallsWithRegisters, PassThemToParametersInMemoryAndTheOtherWayRound) {
  const std::string functions =
      ".func (.param .u32 twice) in_memory(.param .u32 x)\n{\n  .reg .u32 %t;\n"
      "  ld.param.u32 %t, [x];\n  add.u32 %t, %t, %t;\n  st.param.u32 [twice], %t;\n  ret;\n}\n"
      ".func (.reg .u32 more) in_registers(.reg .u32 x)\n{\n  add.u32 more, x, 5;\n  ret;\n}\n";
  const Values a = random_values(kWarpLanes, 3);
  const Values found = results_of(
      functions,
      take("r0", "p0") +
          "  call (%r1), in_memory, (%r0);\n  {\n  .param .u32 one;\n  .param .u32 two;\n"
          "  st.param.u32 [one], %r1;\n  call (two), in_registers, (one);\n"
          "  ld.param.u32 %r2, [two];\n  }\n" +
          give("r2", "p2"),
      a, a);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    EXPECT_EQ(found[lane] & kAll, (2 * a[lane] + 5) & kAll) << "lane " << lane;
  }
}

TEST(CallsWithRegisters, ReturnFromDifferentPlaces) {
  const std::string function =
      ".func (.reg .u32 result) half_way(.reg .u32 x)\n{\n  .reg .pred %odd;\n  .reg .u32 %t;\n"
      "  and.b32 %t, x, 1;\n  setp.ne.u32 %odd, %t, 0;\n  mov.u32 result, 1;\n  @%odd ret;\n"
      "  mov.u32 result, x;\n  ret;\n}\n";
  const Values a = random_values(kWarpLanes, 4);
  const Values found = results_of(
      function, take("r0", "p0") + "  call (%r1), half_way, (%r0);\n" + give("r1", "p2"), a, a);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const std::uint64_t word = a[lane] & kAll;
    EXPECT_EQ(found[lane] & kAll, word % 2 == 1 ? 1 : word) << "lane " << lane;
  }
}

/// A function that calls itself has a body of its own, and registers that each call keeps.
TEST(CallsWithRegisters, WorkForRecursiveFunctions) {
  const std::string function =
      ".func (.reg .u32 sum) up_to(.reg .u32 n)\n{\n  .reg .pred %p;\n  .reg .u32 %m;\n"
      "  mov.u32 sum, 0;\n  setp.eq.u32 %p, n, 0;\n  @%p ret;\n  sub.u32 %m, n, 1;\n"
      "  call (sum), up_to, (%m);\n  add.u32 sum, sum, n;\n  ret;\n}\n";
  Values a(kWarpLanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) a[lane] = lane % 9;
  const Values found = results_of(
      function, take("r0", "p0") + "  call (%r1), up_to, (%r0);\n" + give("r1", "p2"), a, a);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    EXPECT_EQ(found[lane] & kAll, a[lane] * (a[lane] + 1) / 2) << "lane " << lane;
  }
}

TEST(SumsAsOperands, AddALiteralToARegister) {
  const Values a = random_values(kWarpLanes, 5);
  const Values found = results_of(
      "",
      take("d0", "p0") +
          "  cvt.u32.u64 %r0, %d0;\n  mul.lo.u32 %r1, %r0+4*2, 3;\n"
          "  add.u64 %d1, %d0+-7, 0;\n  cvt.u64.u32 %d2, %r1+1;\n  xor.b64 %d1, %d1, %d2;\n"
          "  add.u64 %d3, %p2, %i8;\n  st.global.u64 [%d3], %d1+1;\n",
      a, a);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const std::uint64_t word = ((a[lane] + 8) * 3 + 1) & kAll;
    EXPECT_EQ(found[lane], ((a[lane] - 7) ^ word) + 1) << "lane " << lane;
  }
}

TEST(SumsAsOperands, AreNoDestination) {
  const testing::Device device(
      bench_module(bench_kernel("kernel", "  add.u32 %r0+1, %r1, %r2;\n")));
  EXPECT_NE(refusal_of(device, "kernel"), "");
}

TEST(Literals, MayBeExpressionsWhereverTheyStand) {
  const Values a = random_values(kWarpLanes, 6);
  const Values found =
      results_of("",
                 take("r0", "p0") +
                     "  add.u32 %r0, %r0, (1<<4)|3;\n  add.u32 %r0, %r0, 5 > 3 ? 2 : 1;\n"
                     "  and.b32 %r0, %r0, ~0xff;\n  add.u32 %r0, %r0, -(3);\n" +
                     give("r0", "p2"),
                 a, a);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    EXPECT_EQ(found[lane] & kAll, (((a[lane] + 21) & ~std::uint64_t{0xff}) - 3) & kAll);
  }
}

TEST(VectorsOfSpecialRegisters, HaveThreeAxesAndAZero) {
  const Values a(kWarpLanes);
  const Values found = results_of(
      "",
      "  mov.v4.u32 {%r0, %r1, %r2, %r3}, %tid;\n  mov.v4.u32 {%r4, %r5, %r6, %r7}, %ntid;\n"
      "  mad.lo.u32 %r0, %r4, 1000, %r0;\n  add.u32 %r1, %r1, %r2;\n  add.u32 %r1, %r1, %r3;\n"
      "  mad.lo.u32 %r1, %r5, 10, %r1;\n  add.u32 %r1, %r1, %r6;\n  mov.b64 %d0, {%r0, %r1};\n" +
          give("d0", "p2"),
      a, a);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    EXPECT_EQ(found[lane], std::uint64_t{11} << 32 | (32'000 + lane)) << "lane " << lane;
  }
}

/// Registers of 8 bits cannot be loaded or computed with, but stand in vectors.
TEST(BytesOfARegister, AreTakenApartAndPutTogether) {
  const Values a = random_values(kWarpLanes, 7);
  const Values found = results_of(
      "",
      take("r0", "p0") +
          "  mov.b32 {%c0, %c1, %c2, %c3}, %r0;\n  mov.b32 %r1, {%c3, %c2, %c1, %c0};\n"
          "  mov.b16 %h0, {%c2, %c0};\n  mov.b16 {%c0, _}, %h0;\n  mov.b16 %h1, {%c1, %c0};\n"
          "  cvt.u64.u16 %d0, %h1;\n  cvt.u64.u32 %d1, %r1;\n  shl.b64 %d0, %d0, 32;\n"
          "  or.b64 %d0, %d0, %d1;\n" +
          give("d0", "p2"),
      a, a, kAll, "  .reg .b8 %c<4>;\n");
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const auto byte = [&](unsigned i) { return a[lane] >> (8 * i) & 0xff; };
    const std::uint64_t turned = byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
    EXPECT_EQ(found[lane], (byte(1) | byte(2) << 8) << 32 | turned) << "lane " << lane;
  }
}

/// Instructions of integer arithmetic that one warp executes of a body.
std::uint64_t integer_instructions(const std::string& body) {
  testing::Device device(
      bench_module(bench_kernel("kernel", "  .reg .b8 %c<4>;\n" + take("r0", "p0") + body)));
  const std::uint64_t a = device.put(Values(kWarpLanes)), room = device.put(Values(kWarpLanes));
  testing::Launch launch;
  launch.block = {kWarpLanes, 1, 1};
  const LaunchResult result = device.run("kernel", launch, a, a, room, a, a, kAll);
  EXPECT_EQ(trouble(result), "");
  const auto& by_class = result.counters.instructions_by_class;
  return by_class.contains("integer") ? by_class.at("integer") : 0;
}

TEST(BytesOfARegister, CostAnInstructionEachAndHalvesNothing) {
  // What is computed is stored: the assembler would leave out what nobody needs.
  const auto stored = [](const std::string& body) {
    return integer_instructions(body + give("r1", "p2"));
  };
  const std::uint64_t nothing = stored("  mov.u32 %r1, %r0;\n");
  const std::string apart = "  mov.b32 {%c0, %c1, %c2, %c3}, %r0;\n";
  EXPECT_EQ(stored("  mov.b32 {_, %c1, _, _}, %r0;\n  cvt.u32.u8 %r1, %c1;\n") - nothing, 2U)
      << "and one for the conversion";
  EXPECT_EQ(stored(apart + "  mov.b32 %r1, {%c3, %c2, %c1, %c0};\n") - nothing, 7U);
  EXPECT_EQ(stored("  mov.b32 {%h0, %h1}, %r0;\n  mov.b32 %r1, {%h1, %h0};\n"), nothing);
}

}  // namespace
}  // namespace simgpu::opcode_tests::register_operands_test
