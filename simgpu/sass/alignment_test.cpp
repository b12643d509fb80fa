#include "simgpu/sass/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simgpu/sass/testing_code.h"

namespace simgpu::sass {
namespace {

using testing::CodeText;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kTolerance = 1e-3;
constexpr InstructionClass kInteger = InstructionClass::integer;
constexpr InstructionClass kFp32 = InstructionClass::fp32;

/// What a launch of 64 threads executed, line by line; all lanes of each warp but where it says so.
class Counts {
 public:
  Counts() { counts_.threads = 64; }
  Counts& line(std::uint32_t number, InstructionClass cls, double threads,
               double lanes_of_a_warp = 32) {
    counts_.lines[number] = {.threads = threads,
                             .block_threads = threads,
                             .block_warps = threads / lanes_of_a_warp,
                             .cls = cls,
                             .is_guarded = false,
                             .is_sequence = false,
                             .access_bytes = 4};
    return *this;
  }
  /// The line is in a loop that all threads enter once.
  Counts& in_loop(std::uint32_t number, double turns, std::uint32_t loop = 1, double entries = 64) {
    counts_.lines[number].loop = {.number = loop, .entries = entries, .turns = turns};
    return *this;
  }
  /// The line has a guard, which holds for `threads` of those that come to it.
  Counts& guarded(std::uint32_t number, double threads) {
    counts_.lines[number].is_guarded = true;
    counts_.lines[number].threads = threads;
    return *this;
  }
  /// Lines of one basic block, each of which takes one slot of a warp.
  Counts& block(std::initializer_list<std::uint32_t> lines) {
    for (const std::uint32_t number : lines) {
      counts_.lines[number].ptx_block = *lines.begin();
      counts_.lines[number].issued = counts_.lines[number].block_warps;
    }
    return *this;
  }
  const PtxCounts& counts() const { return counts_; }

 private:
  PtxCounts counts_;
};

Alignment align_all(const CodeText& text, const Counts& counts) {
  return align(text.code(), basic_blocks(text.code()), counts.counts());
}

TEST(Alignment, CountsStraightCodeOnceForEachThread) {
  const auto code = CodeText().add("MOV", kInteger, 1).add("FADD", kFp32, 2).store(3).exit();
  const Alignment alignment =
      align_all(code, Counts().line(2, kFp32, 64).line(3, InstructionClass::global_store, 64));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  EXPECT_THAT(alignment.issued, DoubleNear(4 * 2, kTolerance)) << "four instructions, two warps";
}

TEST(Alignment, CountsALoopByWhatItComputes) {
  const auto code = CodeText()
                        .add("MOV", kInteger, 1)  // 0
                        .add("FFMA", kFp32, 2)    // 1
                        .branch(1, true, 3)       // 2
                        .store(4)                 // 3
                        .exit();                  // 4
  const Alignment alignment =
      align_all(code, Counts().line(2, kFp32, 64 * 10).line(4, InstructionClass::global_store, 64));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  EXPECT_THAT(alignment.blocks.at(1).threads, DoubleNear(640, kTolerance));
  EXPECT_THAT(alignment.issued, DoubleNear(2 + 2 * 10 * 2 + 2 * 2, kTolerance));
}

/// A loop over four copies, and one over what is left.
CodeText unrolled_by_four() {
  return CodeText()
      .branch(6, true)        // 0
      .add("FFMA", kFp32, 2)  // 1
      .add("FFMA", kFp32, 2)
      .add("FFMA", kFp32, 2)
      .add("FFMA", kFp32, 2)
      .branch(1, true)        // 5
      .branch(9, true)        // 6
      .add("FFMA", kFp32, 2)  // 7
      .branch(7, true)        // 8
      .store(4)               // 9
      .exit();
}

TEST(Alignment, DividesTheTurnsOfAnUnrolledLoopByItsCopies) {
  const Alignment alignment =
      align_all(unrolled_by_four(),
                Counts().line(2, kFp32, 64 * 20).line(4, InstructionClass::global_store, 64));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  EXPECT_THAT(alignment.blocks.at(1).threads, DoubleNear(64 * 5, kTolerance));
  EXPECT_THAT(alignment.blocks.at(3).threads, DoubleNear(0, kTolerance));
}

TEST(Alignment, DoesWhatIsLeftOverOfAnUnrolledLoopWhereThereAreFewerCopies) {
  const Alignment alignment = align_all(
      unrolled_by_four(),
      Counts().line(2, kFp32, 64 * 23).in_loop(2, 23).line(4, InstructionClass::global_store, 64));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  EXPECT_THAT(alignment.blocks.at(1).threads, DoubleNear(64 * 5, kTolerance));
  EXPECT_THAT(alignment.blocks.at(3).threads, DoubleNear(64 * 3, kTolerance));
}

TEST(Alignment, LetsNobodyTurnInALoopThatNobodyEnters) {
  const auto code = CodeText()
                        .branch(4, false)       // 0: past a loop of few instructions
                        .add("FFMA", kFp32, 2)  // 1
                        .branch(1, true)        // 2
                        .branch(7, false)       // 3
                        .branch(1, true)        // 4
                        .add("FFMA", kFp32, 2)  // 5
                        .branch(5, true)        // 6
                        .store(4)               // 7
                        .exit();                // 8
  const Alignment alignment = align_all(
      code,
      Counts().line(2, kFp32, 64 * 10).in_loop(2, 10).line(4, InstructionClass::global_store, 64));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  const auto& blocks = alignment.blocks;
  const bool first_is_entered = blocks.at(2).threads > 63, first_turns = blocks.at(1).threads > 63;
  EXPECT_EQ(first_is_entered, first_turns);
}

TEST(Alignment, CountsWarpsOfBothSidesOfABranchWhereTheyPart) {
  const auto code = CodeText()
                        .branch(3, true)   // 0
                        .store(2)          // 1
                        .branch(4, false)  // 2
                        .store(3)          // 3
                        .exit();           // 4
  const Alignment alignment = align_all(code, Counts()
                                                  .line(2, InstructionClass::global_store, 48, 24)
                                                  .line(3, InstructionClass::global_store, 16, 8));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  EXPECT_THAT(alignment.blocks.at(1).warps, DoubleNear(2, kTolerance));
  EXPECT_THAT(alignment.blocks.at(2).warps, DoubleNear(2, kTolerance));
}

TEST(Alignment, CountsPredicatedCodeForAllWarpsThatIssueIt) {
  const auto code = CodeText().store(1).add_if("STG", InstructionClass::global_store, 2).exit();
  const Alignment alignment = align_all(code, Counts()
                                                  .line(1, InstructionClass::global_store, 64)
                                                  .line(2, InstructionClass::global_store, 1, 1));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  EXPECT_THAT(alignment.issued, DoubleNear(3 * 2, kTolerance));
}

TEST(Alignment, LeavesASlowPathAloneThatNothingAsksFor) {
  const auto code = CodeText()
                        .branch(2, true)                            // 0
                        .call(4)                                    // 1
                        .store(1)                                   // 2
                        .exit()                                     // 3
                        .add("MUFU", InstructionClass::special, 9)  // 4
                        .ret();                                     // 5
  const Alignment alignment = align_all(code, Counts().line(1, InstructionClass::global_store, 64));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  EXPECT_THAT(alignment.issued, DoubleNear(3 * 2, kTolerance));
}

TEST(Alignment, SaysThatStoresAreNotWhereThePtxHasThem) {
  const auto code = CodeText().store(1).store(2).exit();
  const Alignment alignment = align_all(code, Counts()
                                                  .line(1, InstructionClass::global_store, 64)
                                                  .line(2, InstructionClass::global_store, 640));
  EXPECT_THAT(alignment.why_not, HasSubstr("stores, barriers and shuffles"));
  EXPECT_GT(alignment.deviation, 0.4);
}

/// A loop of nothing but predicated arithmetic.
CodeText loop_under_a_predicate() {
  return CodeText()
      .add("MOV", kInteger, 1)  // 0
      .add_if("FFMA", kFp32, 2)
      .branch(1, true, 3)  // 2
      .store(4)            // 3
      .exit();
}

TEST(Alignment, CountsALoopWhoseInstructionsAllHaveAGuard) {
  const Alignment alignment =
      align_all(loop_under_a_predicate(), Counts()
                                              .line(2, kFp32, 64 * 100)
                                              .guarded(2, 64 * 100)
                                              .line(4, InstructionClass::global_store, 64)
                                              .block({2})
                                              .block({4}));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  EXPECT_THAT(alignment.blocks.at(1).threads, DoubleNear(64 * 100, kTolerance));
}

TEST(Alignment, CountsPredicatedCodeOfAGuardForAllThatComeToIt) {
  const Alignment alignment =
      align_all(loop_under_a_predicate(), Counts()
                                              .line(2, kFp32, 64 * 100)
                                              .guarded(2, 2 * 100)  // one lane of each warp
                                              .line(4, InstructionClass::global_store, 64)
                                              .block({2})
                                              .block({4}));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  EXPECT_THAT(alignment.blocks.at(1).warps, DoubleNear(2 * 100, kTolerance));
}

TEST(Alignment, CountsABranchThatWasMadeOfAGuardForThoseForWhichItHolds) {
  const auto code = CodeText()
                        .add("MOV", kInteger, 1)  // 0
                        .branch(3, true)          // 1
                        .add("FFMA", kFp32, 2)    // 2
                        .add("FADD", kFp32, 3)    // 3
                        .branch(1, true)          // 4
                        .store(4)                 // 5
                        .exit();
  const Alignment alignment = align_all(code, Counts()
                                                  .line(2, kFp32, 64 * 100)
                                                  .guarded(2, 64 * 25)
                                                  .line(3, kFp32, 64 * 100)
                                                  .line(4, InstructionClass::global_store, 64)
                                                  .block({2, 3})
                                                  .block({4}));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  EXPECT_THAT(alignment.blocks.at(2).threads, DoubleNear(64 * 25, kTolerance));
  EXPECT_THAT(alignment.blocks.at(3).threads, DoubleNear(64 * 100, kTolerance));
}

TEST(Alignment, SaysThatNothingTellsHowOftenALoopIsExecuted) {
  const auto code = CodeText()
                        .add("MOV", kInteger, 1)                 // 0
                        .add("I2F", InstructionClass::other, 2)  // 1
                        .branch(1, true, 3)                      // 2
                        .store(4)                                // 3
                        .exit();                                 // 4
  const Alignment alignment = align_all(code, Counts()
                                                  .line(2, InstructionClass::other, 64 * 100)
                                                  .line(4, InstructionClass::global_store, 64)
                                                  .block({2})
                                                  .block({4}));
  EXPECT_THAT(alignment.why_not, HasSubstr("nothing that tells how often"));
}

TEST(Alignment, SaysThatLoadsAreMissing) {
  const auto code = CodeText().load(2).store(4).exit();
  const Alignment alignment = align_all(code, Counts()
                                                  .line(2, InstructionClass::shared_load, 64)
                                                  .line(3, InstructionClass::shared_load, 64 * 10)
                                                  .line(4, InstructionClass::global_store, 64));
  EXPECT_THAT(alignment.why_not, HasSubstr("loads are missing"));
}

TEST(Alignment, LoadsThatAPredicateKeepsThreadsFromMakeUpForNoOthers) {
  const auto code =
      CodeText().load(2).add_if("LDS", InstructionClass::shared_load, 5).store(4).exit();
  const Alignment alignment = align_all(code, Counts()
                                                  .line(2, InstructionClass::shared_load, 64)
                                                  .line(3, InstructionClass::shared_load, 64)
                                                  .line(4, InstructionClass::global_store, 64)
                                                  .line(5, InstructionClass::shared_load, 64)
                                                  .guarded(5, 0));
  EXPECT_THAT(alignment.why_not, HasSubstr("50.0 % of its loads are missing"));
}

TEST(Alignment, GoesThroughABranchOfNothingButAsynchronousCopiesOrWideLoads) {
  const auto code = CodeText()
                        .branch(2, true)                                 // 0
                        .add("LDGSTS", InstructionClass::async_copy, 2)  // 1
                        .branch(4, true)                                 // 2
                        .load(3, 16)                                     // 3
                        .store(4)                                        // 4
                        .exit();                                         // 5
  const Alignment alignment = align_all(code, Counts()
                                                  .line(2, InstructionClass::async_copy, 64)
                                                  .line(3, InstructionClass::shared_load, 64)
                                                  .line(4, InstructionClass::global_store, 64));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  EXPECT_THAT(alignment.blocks.at(1).threads, DoubleNear(64, kTolerance));
  EXPECT_THAT(alignment.blocks.at(3).threads, DoubleNear(64, kTolerance));
}

TEST(Alignment, WhatMachineCodeWasNotMadeOfHidesNoLoopOfWhichNothingTells) {
  const auto code = CodeText()
                        .add("MOV", kInteger, 1)                 // 0
                        .add("I2F", InstructionClass::other, 2)  // 1
                        .branch(1, true, 3)                      // 2
                        .store(4)                                // 3
                        .exit();                                 // 4
  const Alignment alignment = align_all(code, Counts()
                                                  .line(2, InstructionClass::other, 64 * 100)
                                                  .line(4, InstructionClass::global_store, 64)
                                                  .line(5, kInteger, 64 * 1000)
                                                  .block({2})
                                                  .block({4, 5}));
  EXPECT_THAT(alignment.why_not, HasSubstr("nothing that tells how often"));
}

TEST(Alignment, SaysThatItJumpsToAddressesInRegisters) {
  const auto code = CodeText().jump_anywhere(2).store(3).exit();
  const auto counts = [](double jumps) {
    return Counts()
        .line(2, InstructionClass::control, jumps)
        .line(3, InstructionClass::global_store, 64);
  };
  EXPECT_THAT(align_all(code, counts(32)).why_not, HasSubstr("addresses in registers"));
}

TEST(Alignment, AJumpThatNobodyExecutesIsNoObstacle) {
  const auto code = CodeText()
                        .branch(2, true, 1)  // 0
                        .jump_anywhere(2)    // 1
                        .store(3)            // 2
                        .exit();             // 3
  const auto counts = Counts()
                          .line(1, InstructionClass::control, 64)
                          .line(2, InstructionClass::control, 0)
                          .line(3, InstructionClass::global_store, 64);
  EXPECT_THAT(align_all(code, counts).why_not, IsEmpty());
}

TEST(Alignment, FindsLoadsThatWereMerged) {
  const auto code = CodeText().load(2, 16).store(6).exit();
  Counts counts;
  for (std::uint32_t line = 2; line < 6; ++line)
    counts.line(line, InstructionClass::shared_load, 64);
  counts.line(6, InstructionClass::global_store, 64);
  EXPECT_THAT(align_all(code, counts).why_not, IsEmpty());
}

TEST(Alignment, LetsThreadsReturnToWhereTheyHaveCalled) {
  const auto code = CodeText()
                        .call(5)                                    // 0
                        .add("MOV", kInteger, 1)                    // 1
                        .call(5)                                    // 2
                        .store(2)                                   // 3
                        .exit()                                     // 4
                        .add("MUFU", InstructionClass::special, 9)  // 5
                        .ret();                                     // 6
  const Alignment alignment = align_all(code, Counts().line(2, InstructionClass::global_store, 64));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  EXPECT_THAT(alignment.blocks.at(1).threads, DoubleNear(64, kTolerance)) << "between the calls";
  EXPECT_THAT(alignment.blocks.at(3).threads, DoubleNear(2 * 64, kTolerance));
}

TEST(Alignment, TakesWhatFollowsAShuffleOfPartedLanesForNoTurnOfItsOwn) {
  const auto code = CodeText()
                        .add("MOV", kInteger, 1)                          // 0
                        .add("FFMA", kFp32, 2)                            // 1: the loop
                        .branch(8, true)                                  // 2: where lanes part
                        .add("SHFL", InstructionClass::warp_exchange, 3)  // 3
                        .add("FADD", kFp32, 4)                            // 4
                        .branch(1, true)                                  // 5
                        .store(5)                                         // 6
                        .exit()                                           // 7
                        .call(13)                                         // 8
                        .add("FADD", kFp32, 4)                            // 9
                        .call(13)                                         // 10
                        .add("FADD", kFp32, 4)                            // 11
                        .branch(5, false)                                 // 12
                        .add("SHFL", InstructionClass::warp_exchange, 9)  // 13
                        .ret();                                           // 14
  constexpr double kTurns = 10;
  Counts counts;
  counts.line(2, kFp32, 64 * kTurns).in_loop(2, kTurns);
  counts.line(3, InstructionClass::warp_exchange, 64 * kTurns).in_loop(3, kTurns);
  counts.line(4, kFp32, 64 * kTurns).in_loop(4, kTurns);
  const Alignment alignment = align_all(code, counts.line(5, InstructionClass::global_store, 64));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  EXPECT_THAT(alignment.blocks.at(1).threads, DoubleNear(64 * kTurns, kTolerance));
}

TEST(Alignment, SaysThatItsWorkIsUsedUp) {
  const auto code = CodeText().store(1).exit();
  const Counts counts = Counts().line(1, InstructionClass::global_store, 64);
  WorkBudget little(1);
  EXPECT_THAT(align(code.code(), basic_blocks(code.code()), counts.counts(), little).why_not,
              HasSubstr("used up"));
  WorkBudget enough(1'000'000);
  EXPECT_THAT(align(code.code(), basic_blocks(code.code()), counts.counts(), enough).why_not,
              IsEmpty());
  EXPECT_LT(enough.left(), 1'000'000U);
}

TEST(Alignment, SaysThatNothingWasExecuted) {
  EXPECT_THAT(align(CodeText().exit().code(), basic_blocks(CodeText().exit().code()), {}).why_not,
              HasSubstr("nothing"));
}

TEST(Alignment, PassesOnWhyTheCodeIsNotUnderstood) {
  KernelCode code = CodeText().exit().code();
  code.why_not = "opcode 0x1ff is not known";
  EXPECT_EQ(align(code, {}, Counts().counts()).why_not, "opcode 0x1ff is not known");
}

TEST(Alignment, ALoopInWhichAnotherIsUnrolledWholeTurnsAsOftenAsTheOuterOne) {
  const auto code = CodeText()
                        .add("MOV", kInteger, 9)                   // 0
                        .add("BAR", InstructionClass::barrier, 1)  // 1
                        .add("FFMA", kFp32, 2)
                        .add("FFMA", kFp32, 2)
                        .add("FFMA", kFp32, 2)
                        .add("FFMA", kFp32, 2)
                        .branch(1, true, 3)
                        .store(4)
                        .exit();
  constexpr double kOuter = 100, kInner = 4;
  const Alignment alignment = align_all(code, Counts()
                                                  .line(1, InstructionClass::barrier, 64 * kOuter)
                                                  .in_loop(1, kOuter)
                                                  .line(2, kFp32, 64 * kOuter * kInner)
                                                  .in_loop(2, kInner, 2, 64 * kOuter)
                                                  .line(4, InstructionClass::global_store, 64));
  EXPECT_THAT(alignment.why_not, IsEmpty());
  EXPECT_THAT(alignment.blocks.at(1).threads, DoubleNear(64 * kOuter, kTolerance));
}

TEST(Alignment, ACallOfTheSystemIsNoObstacle) {
  const auto code = CodeText()
                        .branch(3, true, 1)  // 0: the assertion holds
                        .call_others(2)      // 1
                        .exit()              // 2
                        .store(3)            // 3
                        .exit();
  const Counts holds =
      Counts().line(2, InstructionClass::control, 0).line(3, InstructionClass::global_store, 64);
  EXPECT_THAT(align_all(code, holds).why_not, IsEmpty());
  const Counts fails =
      Counts().line(2, InstructionClass::control, 1).line(3, InstructionClass::global_store, 63);
  EXPECT_THAT(align_all(code, fails).why_not, IsEmpty());
}

TEST(Alignment, AFunctionThatIsCalledByItsAddressHasItsCodeElsewhere) {
  auto code = CodeText().call_others(2).store(3).exit();
  code.lines_elsewhere({9});
  Counts counts;
  counts.line(2, InstructionClass::control, 64).line(3, InstructionClass::global_store, 64);
  EXPECT_THAT(align_all(code, counts).why_not, IsEmpty()) << "nothing of it was executed";
  counts.line(9, InstructionClass::fp32, 64);
  EXPECT_THAT(align_all(code, counts).why_not, HasSubstr("calls functions"));
}

}  // namespace
}  // namespace simgpu::sass
