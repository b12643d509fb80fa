#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "simgpu/ptx/parser_testing.h"

namespace simgpu::ptx {
namespace {

using ::testing::ElementsAre;
using testing::parse_kernel;
using testing::parse_module;
using testing::register_names;

std::string only_register(const Function& function, std::size_t instruction, std::size_t operand) {
  return register_names(function, function.body.at(instruction).operands.at(operand)).at(0);
}

std::uint32_t target_of(const Function& function, std::size_t instruction) {
  const Operand& operand = function.body.at(instruction).operands.at(0);
  return std::get<LabelRef>(operand.elements.at(0)).target;
}

TEST(Registers, ExistOnceTheyAreUsed) {
  const Function kernel = parse_kernel("add.s32 %r1, %r7, %r1;");
  ASSERT_EQ(kernel.registers.size(), 2U);
  EXPECT_EQ(kernel.registers[0].name, "%r1");
  EXPECT_EQ(kernel.registers[1].name, "%r7");
  EXPECT_EQ(kernel.registers[1].type, Type::b32);
}

TEST(Registers, OfARangeEndBeforeItsCount) {
  const Function kernel = parse_kernel("mov.u32 %r98, %r99;");
  EXPECT_EQ(only_register(kernel, 0, 0), "%r98");
  EXPECT_EQ(std::get<SpecialRegister>(kernel.body[0].operands[1].elements[0]).name, "%r99");
}

TEST(Registers, MayBeFourBillionAtNoCost) {
  const Function kernel = parse_kernel(".reg .b32 %huge<4294967295>;\nmov.u32 %huge4294967294, 1;");
  EXPECT_EQ(only_register(kernel, 0, 0), "%huge4294967294");
}

TEST(Registers, NamesMayOverlapRanges) {
  const Function kernel = parse_kernel(
      ".reg .b32 %x<20>;\n.reg .b64 %x1<5>;\n{\n.reg .f32 %x12;\nmov.f32 %x12, 1.0;\n}\n"
      "mov.b32 %x19, 1;");
  EXPECT_EQ(kernel.registers[0].type, Type::f32);
  EXPECT_EQ(kernel.registers[1].type, Type::b32);
}

TEST(Registers, OfAVectorAreItsElements) {
  const Function kernel = parse_kernel(
      ".reg .v4 .f32 pixel;\nld.global.v4.f32 pixel, [%rd1];\nmov.f32 %f1, pixel.z;\n"
      "mov.f32 %f2, pixel.g;");
  EXPECT_EQ(kernel.body[0].operands[0].kind, Operand::Kind::vector);
  EXPECT_THAT(register_names(kernel, kernel.body[0].operands[0]),
              ElementsAre("pixel.x", "pixel.y", "pixel.z", "pixel.w"));
  EXPECT_EQ(only_register(kernel, 1, 1), "pixel.z");
  EXPECT_EQ(only_register(kernel, 2, 1), "pixel.y");
}

TEST(Scopes, HideTheNamesOfOuterOnes) {
  const Function kernel = parse_kernel(
      ".reg .b32 low;\nmov.b32 low, 1;\n{ .reg .b16 low, high;\nmov.b16 low, 2;\n"
      "{ .reg .f32 low; mov.f32 low, 3.0; }\nmov.b16 low, 4; }\nmov.b32 low, 5;");
  const std::string outer = only_register(kernel, 0, 0);
  const std::string middle = only_register(kernel, 1, 0);
  const std::string inner = only_register(kernel, 2, 0);
  EXPECT_EQ(std::set<std::string>({outer, middle, inner}).size(), 3U) << "each its own register";
  EXPECT_EQ(only_register(kernel, 3, 0), middle);
  EXPECT_EQ(only_register(kernel, 4, 0), outer);
}

TEST(Scopes, OfRangesAreRenamedToo) {
  const Function kernel =
      parse_kernel("mov.b32 %r3, 1;\n{ .reg .f32 %r<5>; mov.f32 %r3, 1.0; mov.b32 %r7, 2; }");
  EXPECT_NE(only_register(kernel, 0, 0), only_register(kernel, 1, 0));
  EXPECT_EQ(kernel.registers[1].type, Type::f32);
  EXPECT_EQ(only_register(kernel, 2, 0), "%r7") << "beyond the inner range, the outer one counts";
}

/// Every number is that of the innermost scope that has it; the scopes' types tell them apart.
TEST(Scopes, HideRangesHoweverDeepTheyNest) {
  constexpr std::array kTypes{Type::b16, Type::u16, Type::s16, Type::b32, Type::u32, Type::s32,
                              Type::b64, Type::u64, Type::s64, Type::f32, Type::f64};
  constexpr std::size_t kDepth = 300;
  std::vector<std::size_t> counts;
  std::string text;
  for (std::size_t depth = 0; depth < kDepth; ++depth) {
    // Smaller towards the inside, but not always smaller than the scope around.
    counts.push_back(1 + kDepth - depth + depth * 7 % 5);
    text += "{ .reg ." + std::string(name_of(kTypes.at(depth % kTypes.size()))) + " q<" +
            std::to_string(counts.back()) + ">;\n";
  }
  const std::size_t reach = *std::max_element(counts.begin(), counts.end());
  for (std::size_t number = 0; number < reach; ++number) {
    text += "mov.b32 q" + std::to_string(number) + ", 0;\n";
  }
  const Function kernel = parse_kernel(text + std::string(kDepth, '}'));
  ASSERT_EQ(kernel.registers.size(), reach);
  for (std::size_t number = 0; number < reach; ++number) {
    std::size_t owner = kDepth - 1;
    while (counts[owner] <= number) --owner;
    EXPECT_EQ(kernel.registers[number].type, kTypes.at(owner % kTypes.size()))
        << "q" << number << " of scope " << owner;
  }
}

TEST(Scopes, ShareParametersOfCallsThatLookAlike) {
  const Function kernel = parse_kernel(
      "{ .param .b64 param0; st.param.b64 [param0], %rd1; }\n"
      "{ .param .b64 param0; st.param.b64 [param0], %rd1; }\n"
      "{ .param .align 8 .b8 param0[24]; st.param.b64 [param0+16], %rd1; }");
  ASSERT_EQ(kernel.variables.size(), 2U);
  const auto symbol = [&](std::size_t instruction) {
    return std::get<Symbol>(kernel.body[instruction].operands[0].elements[0]).name;
  };
  EXPECT_EQ(symbol(0), symbol(1));
  EXPECT_NE(symbol(1), symbol(2));
  EXPECT_EQ(kernel.variables[1].name, symbol(2));
  EXPECT_EQ(kernel.variables[1].size(), 24U);
}

TEST(Scopes, KeepParametersApartWhileBothLive) {
  const Function kernel = parse_kernel(
      "{ .param .b64 param0; { .param .b64 param0; st.param.b64 [param0], %rd1; }\n"
      "st.param.b64 [param0], %rd2; }");
  EXPECT_EQ(kernel.variables.size(), 2U);
  EXPECT_NE(std::get<Symbol>(kernel.body[0].operands[0].elements[0]).name,
            std::get<Symbol>(kernel.body[1].operands[0].elements[0]).name);
}

TEST(Labels, ResolveForwardsAndBackwards) {
  const Function kernel =
      parse_kernel("$top:\nadd.s32 %r1, %r1, 1;\n@%p1 bra $end;\nbra.uni $top;\n$end:");
  EXPECT_EQ(std::get<LabelRef>(kernel.body[1].operands[0].elements[0]).target, 3U);
  EXPECT_EQ(target_of(kernel, 2), 0U);
  EXPECT_EQ(kernel.body.size(), 3U) << "a label at the end is the index after the last instruction";
}

TEST(Labels, AreThoseOfTheInnermostScope) {
  const Function kernel = parse_kernel(
      "{\nwait: ret;\n@%p1 bra done;\nbra wait;\ndone: }\n{\nwait: exit;\nbra wait;\n"
      "bra done;\ndone: trap; }\nbra out;\n{ { bra out; } }\nout:");
  EXPECT_EQ(target_of(kernel, 1), 3U);
  EXPECT_EQ(target_of(kernel, 2), 0U);
  EXPECT_EQ(target_of(kernel, 4), 3U);
  EXPECT_EQ(target_of(kernel, 5), 6U);
  EXPECT_EQ(target_of(kernel, 7), 9U);
  EXPECT_EQ(target_of(kernel, 8), 9U);
}

TEST(BranchTargets, ListTheIndexesOfTheirLabels) {
  const Function kernel = parse_kernel(
      "table: .branchtargets a, b,\n c, a;\nbrx.idx %r1, table;\na: ret;\nb: exit;\nc: trap;");
  ASSERT_EQ(kernel.branch_targets.size(), 1U);
  EXPECT_EQ(kernel.branch_targets[0].first, "table");
  EXPECT_THAT(kernel.branch_targets[0].second, ElementsAre(1U, 2U, 3U, 1U));
  EXPECT_EQ(std::get<Symbol>(kernel.body[0].operands[1].elements[0]).name, "table");
}

TEST(CallTargets, ListFunctions) {
  const Function kernel =
      parse_kernel("table: .calltargets f, g;\ncall (%r1), %rd1, (%r2), table;");
  ASSERT_EQ(kernel.call_targets.size(), 1U);
  EXPECT_THAT(kernel.call_targets[0].second, ElementsAre("f", "g"));
}

TEST(Nesting, OfAMillionScopesNeitherOverflowsNorSlows) {
  constexpr std::size_t kDepth = 1'000'000;
  const std::string open(kDepth, '{');
  const std::string close(kDepth, '}');
  const Function kernel = parse_kernel(open + "bra out;" + close + "out:");
  EXPECT_EQ(target_of(kernel, 0), 1U);
}

TEST(Locations, KeepFileLineColumnAndInlining) {
  const Module module = parse_module(
      ".entry k()\n{\n.loc 1 20 3\nret;\n.loc 2 5 7, function_name $L__info_string0, "
      "inlined_at 1 20 3\nexit;\n.loc 2 9 1, function_name $L__info_string0+4, inlined_at 2 5 7\n"
      "trap;\n.loc 1 20 3\nret;\n}\n.file 1 \"a.cu\"\n.file 2 \"b.h\", 1700000000, 42\n"
      ".section .debug_str\n{\n$L__info_string0:\n.b8 105,110,110,101\n.b8 114,0\n\n}\n");
  EXPECT_THAT(module.files, ElementsAre("", "a.cu", "b.h"));
  const Function& kernel = module.functions[0];
  const auto location = [&](std::size_t instruction) {
    return kernel.locations.at(kernel.body.at(instruction).location);
  };
  EXPECT_EQ(location(0).line, 20U);
  EXPECT_EQ(location(0).inlined_at, -1);
  EXPECT_EQ(location(1).file, 2U);
  EXPECT_EQ(location(1).column, 7U);
  EXPECT_EQ(location(1).function, "inner");
  EXPECT_EQ(location(2).function, "r");
  const SourceLocation& caller = kernel.locations.at(location(2).inlined_at);
  EXPECT_EQ(caller.line, 5U);
  EXPECT_EQ(kernel.locations.at(caller.inlined_at).line, 20U) << "two calls deep";
  EXPECT_EQ(kernel.body[0].location, kernel.body[3].location) << "one entry per place";
}

}  // namespace
}  // namespace simgpu::ptx
