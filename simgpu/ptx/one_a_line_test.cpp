#include "simgpu/ptx/one_a_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "simgpu/ptx/parser_testing.h"

namespace simgpu::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string kernel_of(const std::string& body) {
  return std::string(testing::kHeader) + ".entry k()\n{\n.reg .b32 %r<9>;\n.reg .pred %p<3>;\n" +
         body + "\n}\n";
}

/// The line of each of the kernel's instructions.
std::vector<std::uint32_t> lines_of(const std::string& text) {
  std::vector<std::uint32_t> lines;
  const Module module = parse(text);
  for (const Instruction& instruction : module.functions.at(0).body) {
    lines.push_back(instruction.ptx_line);
  }
  return lines;
}

TEST(OneInstructionALine, LeavesWhatHasOneAsItIs) {
  const std::string text =
      kernel_of("\t.loc\t1 2 3\n\n// a comment\nadd.u32 %r1, %r2, 0x7;\n$L:\n@!%p1 bra $L;\nret;");
  const std::string printed = one_instruction_a_line(text);
  EXPECT_EQ(lines_of(printed), lines_of(text));
  EXPECT_THAT(printed, HasSubstr("\n.loc 1 2 3\n\n\nadd.u32 %r1, %r2, 0x7;\n$L:\n@!%p1 bra $L;"));
}

TEST(OneInstructionALine, PartsThoseThatShareALine) {
  const std::string text = kernel_of("{ .reg .b32 a; mov.b32 a, 1; add.u32 %r1, a, 2; }  ret;");
  const std::vector<std::uint32_t> lines = lines_of(one_instruction_a_line(text));
  EXPECT_EQ(std::set(lines.begin(), lines.end()).size(), 3U);
}

TEST(OneInstructionALine, JoinsWhatIsWrittenInSeveral) {
  const std::string text = kernel_of(
      "@%p1\nadd\n.u32 %r1,\n%r2, // or another\n/* and\n*/ 3;\nret; add.u32 %r1, %r2\n, 4;");
  const std::string printed = one_instruction_a_line(text);
  EXPECT_THAT(printed, HasSubstr("\n@%p1 add .u32 %r1, %r2, 3;\n"));
  EXPECT_THAT(printed, HasSubstr("\nret;\nadd.u32 %r1, %r2 , 4;"));
  EXPECT_EQ(lines_of(printed)[1], lines_of(text)[1]) << "lines behind it keep their numbers";
}

TEST(OneInstructionALine, GivesTheModuleTheLinesOfItsText) {
  const std::string text = kernel_of(
      "{ .reg .b32 a; mov.b32 a, 1; add.u32 %r1, a, 2; }\n\n@%p1\nadd.u32 %r1,\n%r2, 3; "
      "ret;\nret;");
  const ModuleOfLines read = parse_one_a_line(text);
  EXPECT_EQ(read.text, one_instruction_a_line(text));
  std::vector<std::uint32_t> lines;
  for (const Instruction& instruction : read.module.functions.at(0).body) {
    lines.push_back(instruction.ptx_line);
  }
  EXPECT_EQ(lines, lines_of(read.text));
}

TEST(OneInstructionALine, LeavesOutWhatSetsTheNumbersOfLines) {
  EXPECT_THAT(one_instruction_a_line(kernel_of("add.u32 %r1,\n# 700 \"x.cu\"\n%r2, 1;\nret;")),
              Not(HasSubstr("#")));
}

TEST(OneInstructionALine, ChangesNothingTheSecondTime) {
  const std::string printed =
      one_instruction_a_line(kernel_of("add.u32 %r1, %r2,\n3; add.u32 %r1, %r2, 4; ret;"));
  EXPECT_EQ(one_instruction_a_line(printed), printed);
}

TEST(OneInstructionALine, KeepsStringsAndSections) {
  const std::string text = std::string(testing::kHeader) +
                           ".file 1 \"a b.cu\"\n.global .b8 x[3] = {1, 2, 3};\n.entry k()\n{\n"
                           ".pragma \"nounroll\";\nret;\n}\n"
                           ".section .debug_str { l: .b8 65, 0\n}\n";
  const std::string printed = one_instruction_a_line(text);
  EXPECT_THAT(printed, HasSubstr(".file 1 \"a b.cu\"\n.global .b8 x[3] = {1, 2, 3};\n"));
  EXPECT_THAT(printed, HasSubstr(".pragma \"nounroll\";"));
  EXPECT_EQ(parse(printed).variables.at(0).initial_bytes,
            parse(text).variables.at(0).initial_bytes);
}

TEST(OneInstructionALine, LeavesOutPragmasThatAskForWhatNobodyCounts) {
  const auto with = [](const std::string& pragma) {
    return one_instruction_a_line(kernel_of(".pragma " + pragma + ";\nadd.u32 %r1, %r2, 7;\nret;"));
  };
  EXPECT_THAT(with("\"enable_smem_spilling\""), Not(HasSubstr("pragma")));
  EXPECT_THAT(with("\"nounroll\", \"enable_smem_spilling\""), Not(HasSubstr("pragma")));
  EXPECT_THAT(with("\"nounroll\""), HasSubstr("\n.pragma \"nounroll\";\nadd.u32"));
  EXPECT_EQ(lines_of(with("\"enable_smem_spilling\"")), lines_of(with("\"nounroll\"")));
}

TEST(OneInstructionALine, ThrowsWhereTheTextDoesNotParse) {
  EXPECT_THROW(one_instruction_a_line(kernel_of("add.u32 %r1, ;")), ParseError);
}

}  // namespace
}  // namespace simgpu::ptx
