#include <gtest/gtest.h>

#include "simgpu/exec/opcode_tests/bench.h"

/// Registers that nothing has written (RL0211): told of where their values are used, and not where
/// what they hold does not matter. In each kernel the even lanes are those of %q0, and %u0 to %u3,
/// %v0 and %v1 (64 bits), %f0 to %f3 and %n0 (predicate) are written by the body alone.
namespace simgpu::opcode_tests::unwritten_register_test {
namespace {

using Values = std::vector<std::uint64_t>;

constexpr std::uint64_t kEvenLanes = 0x55555555;

LaunchResult run(const std::string& body) {
  testing::Device device(bench_module(bench_kernel(
      "kernel", "  add.u64 %d0, %p0, %i8;\n" + body,
      "  .reg .b32 %u<4>;\n  .reg .b64 %v<2>;\n  .reg .f32 %f<4>;\n  .reg .pred %n<2>;\n"
      "  .shared .align 16 .b8 room[512];\n")));
  EXPECT_EQ(refusal_of(device, "kernel"), "");
  const std::uint64_t room = device.put(Values(128));
  return device.run("kernel", {}, room, room, room, room, room, kEvenLanes);
}

void expect_told(const std::string& body) {
  const LaunchResult result = run(body);
  ASSERT_EQ(result.findings.size(), 1u) << body;
  EXPECT_EQ(result.findings[0].code, Code("RL0211")) << body;
  EXPECT_EQ(result.findings[0].kind(), FindingKind::uninitialized_read);
  EXPECT_EQ(result.status, LaunchStatus::ok);
}

void expect_silent(const std::string& body) { EXPECT_EQ(trouble(run(body)), "") << body; }

const std::string kStore = "  st.global.u32 [%d0], %r2;\n";

TEST(UnwrittenRegister, IsToldOfWhereASumIsStoredThatBeginsWithIt) {
  expect_told("  add.f32 %f1, %f0, 0f3F800000;\n  st.global.f32 [%d0], %f1;\n");
  expect_told(
      "  mov.u32 %r1, 0;\n$again:\n  add.u32 %u0, %u0, %r1;\n  add.u32 %r1, %r1, 1;\n"
      "  setp.lt.u32 %q1, %r1, 4;\n  @%q1 bra $again;\n  st.global.u32 [%d0], %u0;\n");
}

TEST(UnwrittenRegister, IsToldOfAtTheFirstInstructionThatComputesWithIt) {
  const LaunchResult result =
      run("  mov.f32 %f1, %f0;\n  add.f32 %f2, %f1, %f1;\n  mul.f32 %f2, %f2, %f2;\n"
          "  st.global.f32 [%d0], %f2;\n  st.shared.f32 [room], %f2;\n");
  ASSERT_EQ(result.findings.size(), 1u) << "two uses of one variable";
  EXPECT_EQ(result.findings[0].where.thread, (Dim3{0, 0, 0}));
}

TEST(UnwrittenRegister, IsToldOfWhereItIsStoredAsItIs) {
  expect_told("  st.global.u32 [%d0], %u0;\n");
  expect_told("  @%q0 mov.u32 %u0, 1;\n  st.global.u32 [%d0], %u0;\n");
}

TEST(UnwrittenRegister, IsToldOfWhereItDecides) {
  expect_told("  setp.gt.s32 %q1, %u0, 3;\n  @%q1 bra $end;\n  st.global.u32 [%d0], 1;\n$end:\n");
  expect_told("  @%n0 st.global.u32 [%d0], 1;\n");
  expect_told("  and.b64 %v1, %v0, 8;\n  add.u64 %d1, %p0, %v1;\n  ld.global.u32 %r1, [%d1];\n");
  expect_told(
      "  setp.gt.f32 %q1, %f0, 0f40400000;\n  vote.sync.any.pred %q2, %q1, -1;\n"
      "  @%q2 st.global.u32 [%d0], 1;\n");
}

TEST(UnwrittenRegister, IsToldOfInTheLaneThatGetsItsValueByAShuffle) {
  expect_told("  @%q0 mov.u32 %u0, 1;\n  shfl.sync.bfly.b32 %r2, %u0, 1, 31, -1;\n" + kStore);
}

TEST(UnwrittenRegister, MayBeWrittenAndReadUnderOneCondition) {
  expect_silent("  @%q0 mov.u32 %u0, 1;\n  @%q0 st.global.u32 [%d0], %u0;\n");
  expect_silent(
      "  @%q0 bra $even;\n  mov.u32 %u0, 7;\n$even:\n  @%q0 bra $end;\n"
      "  st.global.u32 [%d0], %u0;\n$end:\n");
}

TEST(UnwrittenRegister, MayBeWhatASelectionLeavesOut) {
  expect_silent("  @%q0 mov.u32 %u0, 1;\n  selp.b32 %r2, %u0, 2, %q0;\n" + kStore);
  expect_silent("  selp.b32 %r2, 5, 5, %n0;\n" + kStore);
  expect_silent(
      "  @%q0 setp.eq.u32 %n0, %lane, 4;\n  and.pred %q1, %n0, %q0;\n"
      "  selp.u32 %r2, 1, 0, %q1;\n" +
      kStore);
  expect_silent(
      "  setp.lt.and.u32 %q1, %lane, 40, %q0;\n  setp.lt.and.u32 %q2, %u0, 4, !%q1;\n"
      "  or.pred %q3, %q2, %q0;\n  @%q0 selp.u32 %r2, 1, 0, %q3;\n"
      "  @%q0 st.global.u32 [%d0], %r2;\n");
}

TEST(UnwrittenRegister, MayHoldBitsThatAreMaskedOrShiftedOut) {
  expect_silent("  and.b32 %r1, %u0, 0;\n  or.b32 %r2, %r1, 3;\n" + kStore);
  expect_silent("  bfi.b32 %r1, 5, %u0, 0, 8;\n  and.b32 %r2, %r1, 255;\n" + kStore);
  expect_silent(
      "  mov.b64 %v1, {%r9, %u0};\n  mov.u32 %r9, 4;\n  mov.b64 %v1, {%r9, %u0};\n"
      "  cvt.u32.u64 %r2, %v1;\n" +
      kStore);
  expect_silent("  prmt.b32 %r2, %u0, 7, 0x7654;\n" + kStore);
  expect_silent("  shl.b64 %v1, %v0, 32;\n  cvt.u32.u64 %r2, %v1;\n" + kStore);
  expect_silent("  xor.b32 %r2, %u0, %u0;\n" + kStore);
}

TEST(UnwrittenRegister, OfTwoHalvesDoesNotSpoilTheOther) {
  expect_silent(
      "  mov.u16 %h1, 15360;\n  mov.b32 %r1, {%h1, %h0};\n"
      "  add.f16x2 %r1, %r1, %r1;\n  mov.b32 {%h2, %h3}, %r1;\n"
      "  st.global.u16 [%d0], %h2;\n");
  expect_told(
      "  mov.u16 %h1, 15360;\n  mov.b32 %r1, {%h1, %h0};\n"
      "  add.f16x2 %r1, %r1, %r1;\n  mov.b32 {%h2, %h3}, %r1;\n"
      "  st.global.u16 [%d0], %h3;\n");
}

TEST(UnwrittenRegister, MayBeMultipliedByZeroAsAWholeNumber) {
  expect_silent("  mul.lo.u32 %r2, %u0, 0;\n" + kStore);
}

TEST(UnwrittenRegister, MayBeNoNumberWhichTimesZeroIsNoneEither) {
  expect_told("  mul.f32 %f1, %f0, 0f00000000;\n  st.global.f32 [%d0], %f1;\n");
  expect_told("  fma.rn.f32 %f1, %f0, 0f00000000, 0f3F800000;\n  st.global.f32 [%d0], %f1;\n");
  expect_told("  mul.f32 %f1, %f0, 0f3F800000;\n  st.global.f32 [%d0], %f1;\n");
}

TEST(UnwrittenRegister, MayBePartOfAStructOrVectorThatIsCopied) {
  expect_silent(
      "  mov.u32 %r1, 1;\n  and.b64 %d1, %d0, -16;\n"
      "  st.global.v4.u32 [%d1], {%r1, %r1, %r1, %u0};\n");
  expect_silent("  st.global.u32 [%d0], 1;\n  st.global.u32 [%d0+4], %u0;\n");
  expect_told(
      "  mov.f32 %f1, 0f3F800000;\n  add.f32 %f2, %f0, %f1;\n"
      "  st.global.v2.f32 [%d0], {%f1, %f2};\n");
}

TEST(UnwrittenRegister, MayLeaveItsUpperHalfOutOfANarrowStore) {
  expect_silent(
      "  mov.u16 %h1, 15360;\n  mov.b32 %r1, {%h1, %h0};\n"
      "  st.global.u16 [%d0], %r1;\n");
}

TEST(UnwrittenRegister, MayPassThroughSharedMemoryToWhereItIsDropped) {
  const std::string pass =
      "  mov.u32 %r1, room;\n  mad.lo.u32 %r1, %lane, 4, %r1;\n  @%q0 mov.u32 %u0, 1;\n"
      "  st.shared.u32 [%r1], %u0;\n  ld.shared.u32 %r3, [%r1];\n";
  expect_silent(pass + "  selp.b32 %r2, %r3, 9, %q0;\n" + kStore);
  const LaunchResult result = run(pass + "  st.global.u32 [%d0], %r3;\n");
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].code, Code("RL0206"));
}

TEST(UnwrittenRegister, OfALaneThatNobodyAsksIsSilent) {
  expect_silent(
      "  @%q0 mov.u32 %u0, 1;\n  and.b32 %r1, %lane, 30;\n"
      "  shfl.sync.idx.b32 %r2, %u0, %r1, 31, -1;\n" +
      kStore);
  expect_silent(
      "  @%q0 setp.ne.u32 %n0, %lane, 99;\n  vote.sync.any.pred %q1, %n0, -1;\n"
      "  selp.u32 %r2, 1, 0, %q1;\n" +
      kStore);
  expect_silent(
      "  @%q0 setp.ne.u32 %n0, %lane, 99;\n  vote.sync.ballot.b32 %r1, %n0, -1;\n"
      "  and.b32 %r2, %r1, 0x55555555;\n" +
      kStore);
}

TEST(UnwrittenRegister, MayBeTheAddressOfALaneWithoutARow) {
  const auto load = [](const std::string& count, const std::string& to) {
    return "  mov.u32 %r1, room;\n  mad.lo.u32 %r1, %lane, 16, %r1;\n"
           "  st.shared.v4.u32 [%r1], {0, 0, 0, 0};\n  bar.sync 0;\n"
           "  setp.lt.u32 %q1, %lane, 8;\n  @%q1 mov.u32 %u0, %r1;\n"
           "  ldmatrix.sync.aligned.m8n8." +
           count + ".shared.b16 {" + to + "}, [%u0];\n" + kStore;
  };
  expect_silent(load("x1", "%r2"));
}

TEST(UnwrittenRegister, IsNotLookedForWithoutCheckers) {
  testing::Device device(bench_module(
      bench_kernel("kernel", "  st.global.u32 [%p0], %u0;\n", "  .reg .b32 %u<1>;\n")));
  const std::uint64_t room = device.put(Values(32));
  const LaunchResult result =
      device.run("kernel", {.checkers = false}, room, room, room, room, room, kEvenLanes);
  EXPECT_EQ(trouble(result), "");
}

}  // namespace
}  // namespace simgpu::opcode_tests::unwritten_register_test
