#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "simgpu/ptx/parser_testing.h"

namespace simgpu::ptx {
namespace {

using ::testing::ElementsAre;
using testing::parse_instruction;
using testing::parse_kernel;
using testing::parse_module;
using testing::register_names;

std::int64_t integer_operand(std::string_view literal) {
  const auto text = "mov.b64 %rd1, " + std::string(literal) + ";";
  return std::get<IntegerLiteral>(parse_instruction(text).operands.at(1).elements.at(0)).value;
}

double float_operand(std::string_view literal) {
  const auto text = "mov.f64 %fd1, " + std::string(literal) + ";";
  return std::get<FloatLiteral>(parse_instruction(text).operands.at(1).elements.at(0)).value;
}

TEST(Opcode, IsSplitFromItsModifiers) {
  const Instruction load = parse_instruction("ld.shared.v4.f32 {%f1,%f2,%f3,%f4}, [%r1];");
  EXPECT_EQ(load.opcode, "ld");
  EXPECT_THAT(load.modifiers, ElementsAre("shared", "v4", "f32"));
  EXPECT_TRUE(load.has("v4"));
  EXPECT_FALSE(load.has("v2"));
  EXPECT_EQ(load.spelling(), "ld.shared.v4.f32");
}

TEST(Opcode, KeepsAModifierWithColonsWhole) {
  EXPECT_THAT(parse_instruction("ld.global.L2::128B.f32 %f1, [%rd1];").modifiers,
              ElementsAre("global", "L2::128B", "f32"));
  EXPECT_THAT(
      parse_instruction("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                        "[%r1], [%rd1], %r2, [%r3];")
          .modifiers,
      ElementsAre("async", "bulk", "shared::cluster", "global", "mbarrier::complete_tx::bytes"));
}

TEST(Opcode, MayBeOneThatNobodyKnows) {
  const Instruction unknown = parse_instruction("frobnicate.3d.x8 %r1, {%r2}, [%rd1], 5;");
  EXPECT_EQ(unknown.spelling(), "frobnicate.3d.x8");
  EXPECT_EQ(unknown.operands.size(), 4U);
}

TEST(Opcode, MayStandAlone) {
  const Function kernel = parse_kernel("bar.sync 0;\nmembar.gl;\nret;");
  ASSERT_EQ(kernel.body.size(), 3U);
  EXPECT_TRUE(kernel.body[1].operands.empty());
  EXPECT_EQ(kernel.body[2].spelling(), "ret");
}

TEST(Instruction, KnowsItsLineInTheText) {
  const Module module = parse_module(".entry k()\n{\n\n  ret;\n}\n");
  EXPECT_EQ(module.functions[0].body[0].ptx_line, 7U);
}

TEST(Guard, NamesThePredicateAndItsNegation) {
  const Function kernel = parse_kernel("@%p3 ret;\n@!%p4 ret;\nret;");
  ASSERT_TRUE(kernel.body[0].guard.has_value());
  EXPECT_EQ(kernel.registers[kernel.body[0].guard->reg].name, "%p3");
  EXPECT_FALSE(kernel.body[0].guard->negated);
  ASSERT_TRUE(kernel.body[1].guard.has_value());
  EXPECT_EQ(kernel.registers[kernel.body[1].guard->reg].name, "%p4");
  EXPECT_TRUE(kernel.body[1].guard->negated);
  EXPECT_FALSE(kernel.body[2].guard.has_value());
}

TEST(IntegerLiteral, MayBeWrittenInFourBases) {
  EXPECT_EQ(integer_operand("1234"), 1234);
  EXPECT_EQ(integer_operand("0x1aF"), 0x1AF);
  EXPECT_EQ(integer_operand("017"), 15);
  EXPECT_EQ(integer_operand("0b1011"), 11);
  EXPECT_EQ(integer_operand("0"), 0);
  EXPECT_EQ(integer_operand("42U"), 42);
}

TEST(IntegerLiteral, KeepsAllSixtyFourBits) {
  EXPECT_EQ(integer_operand("-2147483648"), -2147483648LL);
  EXPECT_EQ(integer_operand("0xFFFFFFFFFFFFFFFF"), -1);
  EXPECT_EQ(integer_operand("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(integer_operand("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
}

TEST(ConstantExpression, HasThePrecedenceOfC) {
  EXPECT_EQ(integer_operand("2+3*4"), 2 + 3 * 4);
  EXPECT_EQ(integer_operand("(2+3)*4"), (2 + 3) * 4);
  EXPECT_EQ(integer_operand("1<<4|3"), 1 << 4 | 3);
  EXPECT_EQ(integer_operand("7&3^12"), (7 & 3) ^ 12);
  EXPECT_EQ(integer_operand("10-4-3"), 10 - 4 - 3);
  EXPECT_EQ(integer_operand("-7/2"), -7 / 2);
  EXPECT_EQ(integer_operand("-7 % 4"), -7 % 4);
  EXPECT_EQ(integer_operand("1 < 2 && 3 != 4"), 1);
  EXPECT_EQ(integer_operand("~5"), ~5);
  EXPECT_EQ(integer_operand("!5"), 0);
  EXPECT_EQ(integer_operand("1 ? 2 : 0 ? 3 : 4"), 2);
  EXPECT_EQ(integer_operand("WARP_SZ*2"), 64);
}

TEST(ConstantExpression, ShiftsByTheCountModulo64AsTheAssemblerDoes) {
  EXPECT_EQ(integer_operand("1 << 70"), 64);
  EXPECT_EQ(integer_operand("1 << 64"), 1);
  EXPECT_EQ(integer_operand("1 << -1"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(integer_operand("5 << 4294967297"), 10);
  EXPECT_EQ(integer_operand("256 >> 70"), 4);
  EXPECT_EQ(integer_operand("-256 >> 70"), -4);
  EXPECT_EQ(integer_operand("-256 >> 63"), -1);
  EXPECT_EQ(integer_operand("0xff00000000000000U >> -60"), 0x0ff0000000000000);
}

TEST(ConstantExpression, FollowsSignedness) {
  EXPECT_EQ(integer_operand("-1 < 0"), 1);
  EXPECT_EQ(integer_operand("-1 < 0U"), 0);
  EXPECT_EQ(integer_operand("-8 >> 1"), -4);
  EXPECT_EQ(integer_operand("(.u64)-8 >> 1"), 0x7FFFFFFFFFFFFFFC);
  EXPECT_EQ(integer_operand("(.s64)0x8000000000000000 / -1"),
            std::numeric_limits<std::int64_t>::min());
}

TEST(FloatLiteral, IsExactInHexadecimal) {
  EXPECT_EQ(float_operand("0f3F800000"), 1.0);
  EXPECT_EQ(float_operand("0fBFC90FDA"), static_cast<double>(-1.57079625F));
  EXPECT_EQ(float_operand("0d3BF921FB54442D18"), std::ldexp(1.5707963267948966, -64));
  EXPECT_EQ(float_operand("0f7F800000"), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(float_operand("0f7FFFFFFF")));
}

TEST(FloatLiteral, MayBeDecimal) {
  EXPECT_EQ(float_operand("1.5"), 1.5);
  EXPECT_EQ(float_operand("-2.5e-3"), -2.5e-3);
  EXPECT_EQ(float_operand("1e3"), 1000.0);
  EXPECT_EQ(float_operand(".25"), 0.25);
  EXPECT_EQ(float_operand("2."), 2.0);
  EXPECT_EQ(float_operand("2.e-3"), 2e-3);
}

TEST(Operand, VectorMixesRegistersNumbersAndSinks) {
  const Instruction move = parse_instruction("mov.b64 {%r1, _, 7}, %rd1;");
  const Operand& vector = move.operands[0];
  EXPECT_EQ(vector.kind, Operand::Kind::vector);
  ASSERT_EQ(vector.elements.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<RegisterRef>(vector.elements[0]));
  EXPECT_TRUE(std::holds_alternative<Sink>(vector.elements[1]));
  EXPECT_EQ(std::get<IntegerLiteral>(vector.elements[2]).value, 7);
}

TEST(Operand, AddressAddsItsOffsets) {
  const auto address = [](std::string_view text) {
    return parse_instruction("ld.global.u32 %r1, " + std::string(text) + ";").operands.at(1);
  };
  EXPECT_EQ(address("[%rd1]").offset, 0);
  EXPECT_EQ(address("[%rd1+8]").offset, 8);
  EXPECT_EQ(address("[%rd1+-4]").offset, -4);
  EXPECT_EQ(address("[%rd1 - 4 + 0x10]").offset, 12);
  EXPECT_EQ(address("[%rd1+4*3-8]").offset, 4);
  EXPECT_EQ(address("[%rd1+1<<2]").offset, 4);
  const Operand parameter = address("[k_param_0+16]");
  EXPECT_EQ(parameter.kind, Operand::Kind::address);
  EXPECT_EQ(std::get<Symbol>(parameter.elements[0]).name, "k_param_0");
  EXPECT_EQ(parameter.offset, 16);
  EXPECT_EQ(std::get<IntegerLiteral>(address("[4096]").elements[0]).value, 4096);
}

TEST(Operand, AddressMayCarryCoordinates) {
  const Function kernel =
      parse_kernel("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [picture, {%f5, %f6}];");
  const Operand& address = kernel.body[0].operands[1];
  EXPECT_EQ(address.kind, Operand::Kind::address);
  EXPECT_EQ(std::get<Symbol>(address.elements[0]).name, "picture");
  EXPECT_THAT(register_names(kernel, address), ElementsAre("?", "%f5", "%f6"));
}

TEST(Operand, AddressMayHaveASuffixThatBecomesAModifier) {
  const Instruction load = parse_instruction("ld.global.u32 %r1, [%rd1].unified;");
  EXPECT_THAT(load.modifiers, ElementsAre("global", "u32", "unified"));
  EXPECT_EQ(load.operands.size(), 2U);
}

TEST(Operand, PairIsADestinationAndAPredicate) {
  const Function kernel = parse_kernel(
      "setp.lt.and.f32 %p1|%p2, %f1, %f2, !%p3;\nshfl.sync.bfly.b32 _|%p1, %r1, 1, 31, -1;");
  const Operand& both = kernel.body[0].operands[0];
  EXPECT_EQ(both.kind, Operand::Kind::pair);
  EXPECT_THAT(register_names(kernel, both), ElementsAre("%p1", "%p2"));
  EXPECT_TRUE(kernel.body[0].operands[3].negated);
  EXPECT_FALSE(kernel.body[0].operands[2].negated);
  const Operand& sunk = kernel.body[1].operands[0];
  EXPECT_EQ(sunk.kind, Operand::Kind::pair);
  EXPECT_TRUE(std::holds_alternative<Sink>(sunk.elements[0]));
}

TEST(Operand, PartsOfARegisterAreSelected) {
  const Instruction video = parse_instruction("vadd.s32.u32.s32 %r1, %r2.b3, %r3.h1;");
  EXPECT_EQ(video.operands[0].selector, -1);
  EXPECT_EQ(video.operands[1].selector, 3);
  EXPECT_EQ(video.operands[2].selector, 5);
}

TEST(Operand, IsASpecialRegisterIfNoRegisterHasTheName) {
  const auto special = [](std::string_view name) {
    const auto text = "mov.u32 %r1, " + std::string(name) + ";";
    return std::get<SpecialRegister>(parse_instruction(text).operands.at(1).elements.at(0)).name;
  };
  for (const auto* name : {"%tid.x", "%ctaid.y", "%nctaid.z", "%laneid", "%envreg2", "%clock64",
                           "%globaltimer_lo", "%lanemask_lt", "%dynamic_smem_size"}) {
    EXPECT_EQ(special(name), name);
  }
}

TEST(Operand, SymbolKeepsItsOffset) {
  const Instruction move = parse_instruction("mov.u64 %rd1, elsewhere+12;");
  const auto& symbol = std::get<Symbol>(move.operands[1].elements[0]);
  EXPECT_EQ(symbol.name, "elsewhere");
  EXPECT_EQ(symbol.offset, 12);
}

TEST(Operand, IndexedArrayIsItsElement) {
  const Module module = parse_module(
      ".global .f32 numbers[8];\n.entry k()\n{\n.reg .f32 %f1;\n.reg .u64 %rd1;\n"
      "ld.global.f32 %f1, numbers[3];\nmov.u64 %rd1, numbers[2+3];\n}\n");
  const Function& kernel = module.functions[0];
  EXPECT_EQ(kernel.body[0].operands[1].kind, Operand::Kind::address);
  EXPECT_EQ(kernel.body[0].operands[1].offset, 3 * 4);
  EXPECT_EQ(kernel.body[1].operands[1].kind, Operand::Kind::scalar);
  EXPECT_EQ(std::get<Symbol>(kernel.body[1].operands[1].elements[0]).offset, 5 * 4);
}

TEST(Operand, IndexByARegisterCountsElements) {
  const Module module = parse_module(
      ".global .v2 .f64 pairs[8];\n.entry k()\n{\n.reg .f64 %f1;\n.reg .b32 %r1;\n"
      ".reg .u64 %rd1;\n.shared .v4 .f32 tile[4];\nld.global.f64 %f1, pairs[%r1+2*2];\n"
      "mov.u64 %rd1, tile[%r1-1];\nmov.u64 %rd1, tile[1];\n}\n");
  const Function& kernel = module.functions[0];
  const Operand& loaded = kernel.body[0].operands[1];
  EXPECT_EQ(loaded.kind, Operand::Kind::address);
  EXPECT_THAT(register_names(kernel, loaded), ElementsAre("?", "%r1"));
  EXPECT_EQ(loaded.scale, 8U) << "an index counts scalars, in an array of vectors too";
  EXPECT_EQ(loaded.offset, 4);
  const Operand& moved = kernel.body[1].operands[1];
  EXPECT_EQ(moved.kind, Operand::Kind::element) << "the address is the value";
  EXPECT_THAT(register_names(kernel, moved), ElementsAre("?", "%r1"));
  EXPECT_EQ(moved.scale, 4U);
  EXPECT_EQ(moved.offset, -1);
  EXPECT_EQ(std::get<Symbol>(kernel.body[2].operands[1].elements[0]).offset, 4);
}

TEST(Operand, VectorMayHaveAPredicateBesideIt) {
  const Function kernel = parse_kernel("tex.1d.v2.f32.f32 {%f1, %f2}|%p1, [picture, {%f5}];");
  const Operand& both = kernel.body[0].operands[0];
  EXPECT_EQ(both.kind, Operand::Kind::pair);
  EXPECT_THAT(register_names(kernel, both), ElementsAre("%f1", "%f2", "%p1"));
}

TEST(Call, KeepsItsOperandsInTheOrderWritten) {
  const Function kernel = parse_kernel(
      "{\n.param .b32 param0;\n.param .b32 retval0;\n"
      "prototype_3 : .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[24]) "
      ".noreturn;\n"
      "call.uni (retval0), vprintf, (param0, 5);\n"
      "call (retval0), %rd1, (param0), prototype_3;\n"
      "call nothing;\ncall other, ();\n}");
  const Instruction& direct = kernel.body[0];
  ASSERT_EQ(direct.operands.size(), 3U);
  EXPECT_EQ(direct.operands[0].kind, Operand::Kind::list);
  EXPECT_EQ(std::get<Symbol>(direct.operands[0].elements[0]).name, "retval0");
  EXPECT_EQ(std::get<Symbol>(direct.operands[1].elements[0]).name, "vprintf");
  EXPECT_EQ(direct.operands[2].kind, Operand::Kind::list);
  EXPECT_EQ(std::get<IntegerLiteral>(direct.operands[2].elements[1]).value, 5);
  const Instruction& indirect = kernel.body[1];
  ASSERT_EQ(indirect.operands.size(), 4U);
  EXPECT_THAT(register_names(kernel, indirect.operands[1]), ElementsAre("%rd1"));
  EXPECT_EQ(std::get<Symbol>(indirect.operands[3].elements[0]).name, "prototype_3");
  EXPECT_EQ(kernel.body[2].operands.size(), 1U);
  EXPECT_TRUE(kernel.body[3].operands[1].elements.empty());
  ASSERT_EQ(kernel.call_prototypes.size(), 1U);
  EXPECT_EQ(kernel.call_prototypes[0].first, "prototype_3");
  const Prototype& prototype = kernel.call_prototypes[0].second;
  ASSERT_EQ(prototype.return_values.size(), 1U);
  EXPECT_EQ(prototype.return_values[0].size(), 4U);
  ASSERT_EQ(prototype.parameters.size(), 2U);
  EXPECT_EQ(prototype.parameters[0].size(), 4U);
  EXPECT_EQ(prototype.parameters[1].size(), 24U);
}

TEST(Comments, MayStandAnywhere) {
  const Function kernel = parse_kernel("add.s32 /* a\nb */ %r1, // c\n%r2, %r3; /**/ ret;");
  EXPECT_EQ(kernel.body.size(), 2U);
  EXPECT_EQ(kernel.body[0].operands.size(), 3U);
}

}  // namespace
}  // namespace simgpu::ptx
