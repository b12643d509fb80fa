#include "simgpu/sass/control_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simgpu/sass/testing_code.h"

namespace simgpu::sass {
namespace {

using testing::CodeText;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr InstructionClass kMove = InstructionClass::integer;

TEST(BasicBlocks, CutsALoopOutOfWhatIsAroundIt) {
  const auto code = CodeText()
                        .add("MOV", kMove, 1)    // 0
                        .add("IADD3", kMove, 2)  // 1
                        .branch(1, true)         // 2
                        .exit();                 // 3
  const std::vector<BasicBlock> blocks = basic_blocks(code.code());
  ASSERT_THAT(blocks, SizeIs(3));
  EXPECT_THAT(blocks[0].leads_to, ElementsAre(1));
  EXPECT_THAT(blocks[1].leads_to, ElementsAre(1, 2));
  EXPECT_TRUE(blocks[2].may_end);
  EXPECT_THAT(blocks[2].leads_to, IsEmpty());
}

TEST(BasicBlocks, LetsAPredicatedExitEndSomeLanes) {
  const auto code = CodeText().exit(true).add("MOV", kMove, 1).exit();
  const std::vector<BasicBlock> blocks = basic_blocks(code.code());
  ASSERT_THAT(blocks, SizeIs(2));
  EXPECT_TRUE(blocks[0].may_end);
  EXPECT_THAT(blocks[0].leads_to, ElementsAre(1));
}

TEST(BasicBlocks, LeavesOutWhatNothingLeadsTo) {
  const auto code = CodeText().exit().branch(1, false).add("NOP", InstructionClass::control, 0);
  EXPECT_THAT(basic_blocks(code.code()), SizeIs(1));
}

TEST(BasicBlocks, LeadsAReconvergenceElsewhereToWhereLanesMeet) {
  const auto code = CodeText()
                        .scope(5, 0)           // 0
                        .branch(3, true)       // 1
                        .reconverge(0)         // 2: what is behind it is the other side
                        .add("MOV", kMove, 1)  // 3
                        .reconverge(0)         // 4
                        .exit();               // 5
  const std::vector<BasicBlock> blocks = basic_blocks(code.code());
  ASSERT_THAT(blocks, SizeIs(4));
  EXPECT_THAT(blocks[0].leads_to, ElementsAre(1, 2));
  EXPECT_THAT(blocks[1].leads_to, ElementsAre(3));
  EXPECT_THAT(blocks[2].leads_to, ElementsAre(3));
}

TEST(BasicBlocks, LeadsReturnsBehindTheCallsOfTheirFunction) {
  const auto code = CodeText()
                        .call(3)                                    // 0
                        .call(3)                                    // 1
                        .exit()                                     // 2
                        .add("MUFU", InstructionClass::special, 1)  // 3
                        .ret();                                     // 4
  const std::vector<BasicBlock> blocks = basic_blocks(code.code());
  ASSERT_THAT(blocks, SizeIs(4));
  EXPECT_THAT(blocks[0].leads_to, ElementsAre(3)) << "not past what it calls";
  EXPECT_THAT(blocks[3].leads_to, ElementsAre(1, 2));
  EXPECT_EQ(blocks[0].call, (BasicBlock::Call{.function = 3, .behind = 1}));
  EXPECT_EQ(blocks[1].call, (BasicBlock::Call{.function = 3, .behind = 2}));
}

TEST(BasicBlocks, TakeACallOfWhatNeverReturnsForAJump) {
  const auto code = CodeText()
                        .call(4)               // 0
                        .add("MOV", kMove, 1)  // 1
                        .exit()                // 2
                        .branch(1, true)       // 3
                        .branch(1, true)       // 4
                        .exit();               // 5
  const std::vector<BasicBlock> blocks = basic_blocks(code.code());
  ASSERT_THAT(blocks, SizeIs(4));
  EXPECT_FALSE(blocks[0].call.has_value());
  EXPECT_THAT(blocks[0].leads_to, ElementsAre(2));
}

TEST(BasicBlocks, LeadAFunctionsReturnsNotBehindCallsThatItsCallerReturnsTo) {
  const auto code = CodeText()
                        .call(2)                                    // 0
                        .exit()                                     // 1
                        .call(4)                                    // 2: the outer function
                        .ret()                                      // 3
                        .add("MUFU", InstructionClass::special, 1)  // 4: the inner one
                        .ret();                                     // 5
  const std::vector<BasicBlock> blocks = basic_blocks(code.code());
  ASSERT_THAT(blocks, SizeIs(5));
  EXPECT_THAT(blocks[3].leads_to, ElementsAre(1));
  EXPECT_THAT(blocks[4].leads_to, ElementsAre(3)) << "not behind the call of the outer function";
}

TEST(Loops, AreNoneOfCallsOfTheSameFunction) {
  const auto code = CodeText()
                        .call(3)                                    // 0
                        .call(3)                                    // 1
                        .exit()                                     // 2
                        .add("MUFU", InstructionClass::special, 1)  // 3
                        .ret();                                     // 4
  EXPECT_THAT(find_loops(basic_blocks(code.code())), IsEmpty());
}

TEST(Loops, AreFoundInFunctionsAndAroundCalls) {
  const auto code = CodeText()
                        .add("MOV", kMove, 1)    // 0
                        .call(4)                 // 1: the loop around the call
                        .branch(1, true)         // 2
                        .exit()                  // 3
                        .add("MOV", kMove, 2)    // 4
                        .add("IADD3", kMove, 3)  // 5: the function's loop
                        .branch(5, true)         // 6
                        .ret();                  // 7
  const std::vector<Loop> loops = find_loops(basic_blocks(code.code()));
  ASSERT_THAT(loops, SizeIs(2));
  EXPECT_THAT(loops[0].blocks, ElementsAre(5));
  EXPECT_THAT(loops[1].blocks, ElementsAre(1, 2)) << "without what is called";
}

TEST(BasicBlocks, AreNoneOfCodeThatIsNotUnderstood) {
  KernelCode code = CodeText().exit().code();
  code.why_not = "opcode 0x1ff is not known";
  EXPECT_THAT(basic_blocks(code), IsEmpty());
}

TEST(Loops, AreFoundInEachOther) {
  const auto code = CodeText()
                        .add("MOV", kMove, 1)    // 0
                        .add("MOV", kMove, 2)    // 1: the outer loop
                        .add("IADD3", kMove, 3)  // 2: the inner one
                        .branch(2, true)         // 3
                        .branch(1, true)         // 4
                        .exit();                 // 5
  const std::vector<Loop> loops = find_loops(basic_blocks(code.code()));
  ASSERT_THAT(loops, SizeIs(2));
  EXPECT_THAT(loops[0].blocks, ElementsAre(2));
  EXPECT_THAT(loops[1].blocks, ElementsAre(1, 2, 3));
  EXPECT_EQ(loops[1].head, 1U);
}

TEST(Loops, AreNoneInStraightCode) {
  const auto code = CodeText().branch(2, true).add("MOV", kMove, 1).exit();
  EXPECT_THAT(find_loops(basic_blocks(code.code())), IsEmpty());
}

}  // namespace
}  // namespace simgpu::sass
