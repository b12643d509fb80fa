#include "simgpu/sass/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace simgpu::sass {
namespace {

using ::testing::ElementsAre;

std::vector<int> registers_read(const Instruction& instruction) {
  std::vector<int> registers;
  for (const std::uint8_t one : instruction.reads) {
    if (one != Instruction::kNoRegister) registers.push_back(one);
  }
  return registers;
}

// The words, and what nvdisasm 13.5 prints for them.

TEST(Decoder, ReadsAMultiplyAddOfRegisters) {
  // FFMA R4, R4, R5, R0
  const Instruction ffma = decode({0x0000000504047223, 0x004fe20000000000}, 80, 0xe0);
  EXPECT_EQ(ffma.name, "FFMA");
  EXPECT_EQ(ffma.cls, InstructionClass::fp32);
  EXPECT_EQ(ffma.writes, 4);
  EXPECT_THAT(registers_read(ffma), ElementsAre(4, 5, 0));
  EXPECT_TRUE(ffma.predicate.is_always());
  EXPECT_EQ(ffma.flow, Flow::next);
}

TEST(Decoder, ReadsALiteralAsNoRegister) {
  // FFMA.RM R10, R10, R19.reuse, 12582913
  const Instruction ffma = decode({0x4b4000010a0a7423, 0x080fe40000004013}, 80, 0x1b0);
  EXPECT_THAT(registers_read(ffma), ElementsAre(10, 19));
  EXPECT_EQ(ffma.control.reuse_mask, 2U) << "the second operand";
}

TEST(Decoder, ReadsStallCyclesAndScoreboards) {
  // The result of a load comes at an unknown time, so that it releases a scoreboard.
  // @!P0 LDG.E R0, [R2.64+0x8]
  const Instruction load = decode({0x0000080402008981, 0x0080a2000c1e1900}, 80, 0xd0);
  EXPECT_EQ(load.name, "LDG");
  EXPECT_EQ(load.predicate, (Predicate{.index = 0, .negated = true}));
  EXPECT_EQ(load.control, (IssueControl{.stall_cycles = 1,
                                        .yields = false,
                                        .write_barrier = 2,
                                        .read_barrier = 0,
                                        .wait_mask = 1U << 3,
                                        .reuse_mask = 0}));
  // FFMA R4, R4, R5, R0, which waits for a load
  const IssueControl waits = decode({0x0000000504047223, 0x004fe20000000000}, 80, 0).control;
  EXPECT_EQ(waits.wait_mask, 1U << 2);
  EXPECT_EQ(waits.write_barrier, IssueControl::kNoBarrier) << "arithmetic takes a known time";
}

TEST(Decoder, KnowsHowWideAnAccessIs) {
  // @!P0 LDG.E R0, [R2.64+0x8]; LDS.128 R8, [R0.X16]; STG.E.64 desc[UR4][R2.64], R4
  EXPECT_EQ(decode({0x0000080402008981, 0x0080a2000c1e1900}, 80, 0).access_bytes, 4U);
  EXPECT_EQ(decode({0x0000000000087984, 0x000e68000000cc00}, 80, 0).access_bytes, 16U);
  const Instruction store = decode({0x0000000402007986, 0x002fe2000c101b04}, 90, 0);
  EXPECT_EQ(store.access_bytes, 8U);
  EXPECT_THAT(registers_read(store), ElementsAre(2, 4)) << "the address and what is stored";
  EXPECT_EQ(store.writes, Instruction::kNoRegister);
}

TEST(Decoder, KnowsWhereJumpsOfEachArchitectureLead) {
  // @P0 BRA at 0x50, over 0xca0 bytes; the same on Hopper, over 0x770 bytes
  const Instruction ampere = decode({0x00000ca000000947, 0x000fea0003800000}, 80, 0x50);
  EXPECT_EQ(ampere.flow, Flow::branch);
  EXPECT_TRUE(ampere.is_conditional);
  EXPECT_EQ(ampere.target, 0x60U + 0xca0U);
  const Instruction hopper = decode({0x0000000400dc0947, 0x000fea0003800000}, 90, 0x50);
  EXPECT_EQ(hopper.target, 0x60U + 0x770U);
  // BRA to itself, at 0x20
  const Instruction back = decode({0xfffffffc00fc7947, 0x000fc0000383ffff}, 90, 0x20);
  EXPECT_EQ(back.target, 0x20U);
  EXPECT_FALSE(back.is_conditional);
}

TEST(Decoder, TakesAJumpOfLanesThatPartForAConditionalOne) {
  // BRA.DIV UR4, `(.L_x_246)
  EXPECT_TRUE(decode({0x0000001604187947, 0x000ff6000b800000}, 90, 0xf80).is_conditional);
  // @!P0 BRA P1, `(.L_x_3)
  EXPECT_TRUE(decode({0x0000000000288947, 0x000fea0000800000}, 90, 0x670).is_conditional);
}

TEST(Decoder, TakesAJumpByTheWarpsPredicateForAConditionalOne) {
  // BRA.U !UP0, `(.L_x_102)
  const Instruction jump = decode({0x0000005108b07547, 0x000fea000b800000}, 120, 0x100);
  EXPECT_TRUE(jump.predicate.is_always());
  EXPECT_TRUE(jump.is_conditional);
}

TEST(Decoder, KnowsWhereLanesMeetAgain) {
  // BSSY B1, `(.L_x_0)
  const Instruction scope = decode({0x00000a4000017945, 0x000fe20003800000}, 80, 0x30);
  EXPECT_EQ(scope.flow, Flow::scope);
  EXPECT_EQ(scope.convergence_barrier, 1U);
  EXPECT_EQ(scope.target, 0x40U + 0xa40U);
}

TEST(Decoder, KnowsWhereLanesOfBlackwellMeetAgain) {
  // BSSY.RECONVERGENT B0, at 0x30, over 0x2c0 bytes; BSSY.RELIABLE B0, over 0xc50 bytes
  const Instruction scope = decode({0x000002c000007945, 0x000fe60003800200}, 100, 0x30);
  EXPECT_EQ(scope.flow, Flow::scope);
  EXPECT_EQ(scope.target, 0x40U + 0x2c0U);
  EXPECT_EQ(decode({0x00000c5000007945, 0x000fe20003800100}, 120, 0x30).target, 0x40U + 0xc50U);
}

TEST(Decoder, ReadsANumberAsItsArchitectureDoes) {
  // IADD.64 R2, R2, R4; what was HFMA2 before
  const Instruction sum = decode({0x0000000402027235, 0x000fcc00078e0200}, 120, 0);
  EXPECT_EQ(sum.name, "IADD");
  EXPECT_EQ(sum.cls, InstructionClass::integer);
  EXPECT_EQ(sum.writes, 2U);
  EXPECT_THAT(registers_read(sum), ElementsAre(2, 4));
  EXPECT_EQ(decode({0x0000000402027235, 0x000fcc00078e0200}, 90, 0).name, "HFMA2");
}

TEST(Decoder, ATellingPredicateIsNoRegisterWritten) {
  // ATOMS.CAST.SPIN P0, [R5], R8, R9; the same of an sm_90, which writes R3
  const Instruction exchange = decode({0x000000080500758d, 0x000e240001800009}, 100, 0);
  EXPECT_EQ(exchange.writes, Instruction::kNoRegister);
  EXPECT_THAT(registers_read(exchange), ElementsAre(5, 8, 9));
  EXPECT_EQ(decode({0x000000020003738d, 0x000e240001800003}, 90, 0).writes, 3U);
}

TEST(Decoder, LeavesAnUnknownOpcodeWithoutAName) {
  const Instruction unknown = decode({0x00000000000071FF, 0x000fea0003800000}, 80, 0);
  EXPECT_TRUE(unknown.name.empty());
  EXPECT_EQ(unknown.opcode, 0x1FFU);
}

TEST(Decoder, TellsHowManyOfAScoreboardsOperationsAWaitLeaves) {
  // DEPBAR.LE SB0, 0x2
  const Instruction wait = decode({0x000080800000791a, 0x000fc80000000000}, 80, 0);
  ASSERT_TRUE(wait.awaited);
  EXPECT_EQ(wait.awaited->scoreboard, 0U);
  EXPECT_EQ(wait.awaited->left, 2U);
  EXPECT_FALSE(decode({0x00000000000079af, 0x000e280000000000}, 80, 0).awaited) << "LDGDEPBAR";
}

}  // namespace
}  // namespace simgpu::sass
