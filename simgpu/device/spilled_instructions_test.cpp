#include "simgpu/device/spilled_instructions.h"

#include <gtest/gtest.h>

namespace simgpu::spilled_instructions_test {
namespace {

/// A kernel whose instructions each have a line, and what ptxas made of them.
class Code {
 public:
  Code& add(InstructionClass cls, double loads, unsigned alike) {
    return add_line(static_cast<std::uint32_t>(lines_.size()) + 1, cls, loads, alike);
  }
  Code& add_line(std::uint32_t line, InstructionClass cls, double loads, unsigned alike) {
    again(line, cls);
    fatbin::Spills spills;
    spills.ptx_line = line;
    spills.loads = loads;
    spills.load_words = loads;
    spills.alike = alike;
    lines_.push_back(spills);
    return *this;
  }
  /// Where the line's function is inlined once more.
  Code& again(std::uint32_t line, InstructionClass cls) {
    InstructionInfo instruction;
    instruction.cls = cls;
    instruction.ptx_line = line;
    instruction.starts_block = instructions_.empty();
    instructions_.push_back(instruction);
    return *this;
  }
  /// Spills of a line that no instruction of the kernel is in.
  Code& spill(std::uint32_t line, double loads) {
    fatbin::Spills spills;
    spills.ptx_line = line;
    spills.loads = loads;
    lines_.push_back(spills);
    return *this;
  }
  double loads_of(std::size_t instruction) const {
    return spills_by_instruction(lines_, instructions_).at(instruction).loads;
  }

 private:
  std::vector<fatbin::Spills> lines_;
  std::vector<InstructionInfo> instructions_;
};

TEST(SpilledInstructions, ShareTheSpillsOfAnUnrolledLoop) {
  Code code;
  for (int i = 0; i < 5; ++i) code.add(InstructionClass::fp32, 8, 4);
  code.add(InstructionClass::integer, 0, 1);  // the loop's count
  EXPECT_EQ(code.loads_of(2), 2);
}

TEST(SpilledInstructions, AreNoUnrolledLoopForBeingSeveralOfTheMachine) {
  Code code;
  for (int i = 0; i < 5; ++i) code.add(InstructionClass::integer, 8, 2);  // of 64 bits
  for (int i = 0; i < 5; ++i) code.add(InstructionClass::tensor, 8, 4);
  EXPECT_EQ(code.loads_of(0), 8);
  EXPECT_EQ(code.loads_of(9), 8);
  for (int i = 0; i < 3; ++i) code.add(InstructionClass::fp32, 0, 1);
  EXPECT_EQ(code.loads_of(0), 8) << "others of the block are there once";
}

TEST(SpilledInstructions, OfSeveralOfTheMachineShareWhatTheirBlockIsUnrolled) {
  Code code;
  for (int i = 0; i < 5; ++i) code.add(InstructionClass::tensor, 16, 8);
  for (int i = 0; i < 3; ++i) code.add(InstructionClass::fp32, 0, 4);
  EXPECT_EQ(code.loads_of(0), 4);
}

TEST(SpilledInstructions, TakeNoLineThatIsMadeAnewForTheRuleOfItsBlock) {
  Code code;
  code.add(InstructionClass::fp32, 12, 12);  // for each that uses it
  for (int i = 0; i < 4; ++i) code.add(InstructionClass::fp32, 1, 1);
  EXPECT_EQ(code.loads_of(0), 12);
}

TEST(SpilledInstructions, HaveTheirSharesOfAFunctionThatIsInlinedTwice) {
  Code code;
  for (int i = 0; i < 3; ++i) code.add(InstructionClass::fp32, 8, 2);
  for (std::uint32_t i = 0; i < 3; ++i) code.again(i + 1, InstructionClass::fp32);
  EXPECT_EQ(code.loads_of(0), 4);
  EXPECT_EQ(code.loads_of(5), 4);
}

TEST(SpilledInstructions, LoseNothingThatIsOfNoInstruction) {
  Code code;
  code.add_line(10, InstructionClass::fp32, 1, 1).add_line(20, InstructionClass::fp32, 1, 1);
  code.spill(0, 2).spill(15, 4).spill(99, 8);
  EXPECT_EQ(code.loads_of(0), 1 + 2 + 4);
  EXPECT_EQ(code.loads_of(1), 1 + 8);
}

}  // namespace
}  // namespace simgpu::spilled_instructions_test
