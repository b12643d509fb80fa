#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "simgpu/ptx/parser_testing.h"

namespace simgpu::ptx {
namespace {

using ::testing::ElementsAre;
using testing::parse_kernel;
using testing::parse_module;

Variable parse_variable(std::string_view text) { return parse_module(text).variables.at(0); }

template <typename Element>
std::vector<Element> initial_elements(const Variable& variable) {
  std::vector<Element> elements(variable.initial_bytes.size() / sizeof(Element));
  std::memcpy(elements.data(), variable.initial_bytes.data(), elements.size() * sizeof(Element));
  return elements;
}

TEST(Types, HaveTheirSizes) {
  EXPECT_EQ(size_of(Type::none), 0U);
  EXPECT_EQ(size_of(Type::pred), 1U);
  EXPECT_EQ(size_of(Type::e5m2), 1U);
  EXPECT_EQ(size_of(Type::bf16), 2U);
  EXPECT_EQ(size_of(Type::f16x2), 4U);
  EXPECT_EQ(size_of(Type::s64), 8U);
  EXPECT_EQ(size_of(Type::b128), 16U);
  EXPECT_EQ(name_of(Type::bf16x2), "bf16x2");
}

TEST(Variable, HasSpaceTypeAlignmentAndLinkage) {
  const Module module = parse_module(
      ".visible .global .align 16 .v4 .f32 a[10];\n.extern .shared .align 8 .b8 b[];\n"
      ".const .u16 c;\n.weak .global .attribute(.managed) .align 4 .u32 d;\n.common .global .f64 "
      "e;\n"
      ".shared .b32 f[4][8], g;\n");
  ASSERT_EQ(module.variables.size(), 7U);
  const auto& [a, b, c] = std::tie(module.variables[0], module.variables[1], module.variables[2]);
  EXPECT_EQ(a.linkage, Variable::Linkage::visible);
  EXPECT_EQ(a.space, Space::global);
  EXPECT_EQ(a.type, Type::f32);
  EXPECT_EQ(a.vector, 4U);
  EXPECT_EQ(a.alignment, 16U);
  EXPECT_EQ(a.size(), 160U);
  EXPECT_EQ(b.linkage, Variable::Linkage::external);
  EXPECT_EQ(b.space, Space::shared);
  EXPECT_THAT(b.dimensions, ElementsAre(0U));
  EXPECT_EQ(b.size(), 0U);
  EXPECT_EQ(c.space, Space::constant);
  EXPECT_EQ(c.alignment, 2U) << "its own size";
  EXPECT_TRUE(module.variables[3].managed);
  EXPECT_EQ(module.variables[3].linkage, Variable::Linkage::weak);
  EXPECT_EQ(module.variables[4].linkage, Variable::Linkage::common);
  EXPECT_EQ(module.variables[5].size(), 128U);
  EXPECT_EQ(module.variables[6].name, "g");
  EXPECT_EQ(module.variables[6].size(), 4U);
}

TEST(Variable, MayHaveItsAlignmentAndAttributesBeforeItsSpace) {
  const Module module = parse_module(
      ".visible .align 16 .global .b8 a[4];\n.attribute(.managed) .global .u32 b;\n"
      ".entry k()\n{\n.align 8 .shared .b8 c[4];\n}\n");
  EXPECT_EQ(module.variables[0].alignment, 16U);
  EXPECT_EQ(module.variables[0].linkage, Variable::Linkage::visible);
  EXPECT_TRUE(module.variables[1].managed);
  EXPECT_EQ(module.variables[1].alignment, 4U);
  EXPECT_EQ(module.functions[0].variables[0].alignment, 8U);
}

TEST(Variable, RangeDeclaresOneByNumber) {
  const Module module = parse_module(
      ".global .u32 x<2>, y;\n.entry k()\n{\n.reg .u32 %r1;\n.shared .u64 s<3>;\n"
      "ld.shared.u32 %r1, [s2];\n}\n");
  ASSERT_EQ(module.variables.size(), 3U);
  EXPECT_EQ(module.variables[0].name, "x0");
  EXPECT_EQ(module.variables[1].name, "x1");
  EXPECT_EQ(module.variables[2].name, "y");
  const Function& kernel = module.functions[0];
  ASSERT_EQ(kernel.variables.size(), 3U);
  EXPECT_EQ(kernel.variables[2].name, "s2");
  EXPECT_EQ(kernel.variables[2].size(), 8U);
}

TEST(Variable, OfAbsurdSizeSaturates) {
  const Variable huge = parse_variable(".global .b64 x[4000000000][4000000000][4000000000];");
  EXPECT_EQ(huge.size(), std::numeric_limits<std::uint64_t>::max());
}

TEST(Initialiser, WritesValuesAsTheElementType) {
  EXPECT_THAT(initial_elements<std::int16_t>(parse_variable(".global .s16 x[3] = {1, -2, 0x7F};")),
              ElementsAre(1, -2, 127));
  EXPECT_THAT(initial_elements<float>(parse_variable(".const .f32 x[] = {-1.0, 0f3F000000, 3};")),
              ElementsAre(-1.0F, 0.5F, 3.0F));
  EXPECT_THAT(initial_elements<double>(parse_variable(".global .f64 x = 0d3FF8000000000000;")),
              ElementsAre(1.5));
  EXPECT_THAT(initial_elements<float>(parse_variable(".global .b32 x = 0f40490FDB;")),
              ElementsAre(3.14159274F));
  EXPECT_THAT(initial_elements<std::uint64_t>(
                  parse_variable(".global .align 8 .u64 x[2] = {4591870180066957722, 1<<40};")),
              ElementsAre(4591870180066957722U, 1099511627776U));
}

/// Expected values are what ptxas 13.0 stores.
TEST(Initialiser, CopiesTheBitsOfSinglePrecisionLiterals) {
  for (const std::string type : {"f64", "b64"}) {
    const Variable variable =
        parse_variable(".global ." + type + " x[4] = {0f3F800000, (0fBF800000), 0f7F800001, 1.5};");
    EXPECT_THAT(initial_elements<std::uint64_t>(variable),
                ElementsAre(0x3F800000U, 0xBF800000U, 0x7F800001U, 0x3FF8000000000000U))
        << type;
  }
  EXPECT_THAT(initial_elements<std::uint32_t>(parse_variable(".global .f32 x = 0f7F800001;")),
              ElementsAre(0x7F800001U))
      << "a signalling NaN stays one";
}

TEST(Initialiser, GivesAnArrayItsLength) {
  EXPECT_THAT(parse_variable(".global .f32 x[] = {1.0, 2.0, 3.0};").dimensions, ElementsAre(3U));
  EXPECT_THAT(parse_variable(".global .u8 x[][2] = {{1, 2}, {3}};").dimensions,
              ElementsAre(2U, 2U));
}

TEST(Initialiser, LeavesGapsOfZerosInNestedBraces) {
  const Variable matrix = parse_variable(".global .s32 x[3][2] = {{1}, {}, {2, 3}};");
  EXPECT_THAT(initial_elements<std::int32_t>(matrix), ElementsAre(1, 0, 0, 0, 2, 3));
  const Variable pairs = parse_variable(".global .v2 .s32 x[2] = {{1, 2}, {3, 4}};");
  EXPECT_THAT(initial_elements<std::int32_t>(pairs), ElementsAre(1, 2, 3, 4));
}

TEST(Initialiser, MayEndBeforeTheVariable) {
  const Variable partial = parse_variable(".const .align 4 .b8 x[24] = {0, 0, 128, 63};");
  EXPECT_EQ(partial.initial_bytes.size(), 4U);
  EXPECT_EQ(partial.size(), 24U);
}

TEST(Initialiser, RelocatesAddresses) {
  const Variable table =
      parse_variable(".global .align 8 .u64 x[5] = {97, generic(g), generic(g)+4, f, f+-8};");
  ASSERT_EQ(table.relocations.size(), 4U);
  const auto& relocations = table.relocations;
  EXPECT_EQ(relocations[0].symbol, "g");
  EXPECT_TRUE(relocations[0].generic);
  EXPECT_EQ(relocations[0].byte_offset, 8U);
  EXPECT_EQ(relocations[0].width, 8U);
  EXPECT_EQ(relocations[1].addend, 4);
  EXPECT_FALSE(relocations[2].generic);
  EXPECT_EQ(relocations[2].symbol, "f");
  EXPECT_EQ(relocations[3].addend, -8);
  EXPECT_EQ(table.initial_bytes.size(), 40U);
  EXPECT_EQ(table.initial_bytes[0], 97);
}

TEST(Initialiser, JoinsTheMaskedBytesOfAnAddress) {
  const Variable structure = parse_variable(
      ".global .align 8 .b8 x[10] = {7, 0xFF(sym+4), 0xFF00(sym+4), 0xFF0000(sym+4), "
      "0xFF000000(sym+4), 0xFF00000000(sym+4), 0xFF0000000000(sym+4), 0xFF000000000000(sym+4), "
      "0xFF00000000000000(sym+4), 9};");
  ASSERT_EQ(structure.relocations.size(), 1U);
  EXPECT_EQ(structure.relocations[0].byte_offset, 1U);
  EXPECT_EQ(structure.relocations[0].width, 8U);
  EXPECT_EQ(structure.relocations[0].addend, 4);
  EXPECT_EQ(structure.relocations[0].shift, 0U);
  EXPECT_EQ(structure.initial_bytes[0], 7);
  EXPECT_EQ(structure.initial_bytes[9], 9);
}

TEST(Initialiser, KeepsASingleMaskedByte) {
  const Variable byte = parse_variable(".global .b8 x[1] = {0xFF0000(generic(sym))};");
  ASSERT_EQ(byte.relocations.size(), 1U);
  EXPECT_EQ(byte.relocations[0].width, 1U);
  EXPECT_EQ(byte.relocations[0].shift, 16U);
  EXPECT_TRUE(byte.relocations[0].generic);
}

TEST(Initialiser, MayKeepAMaskedByteInAWiderElement) {
  const Variable word = parse_variable(".global .u32 x[2] = {0xFF00(sym+2*2), 7};");
  ASSERT_EQ(word.relocations.size(), 1U);
  EXPECT_EQ(word.relocations[0].width, 1U);
  EXPECT_EQ(word.relocations[0].shift, 8U);
  EXPECT_EQ(word.relocations[0].addend, 4);
  EXPECT_THAT(initial_elements<std::uint32_t>(word), ElementsAre(0U, 7U));
}

TEST(Function, HasParametersAndResults) {
  const Module module = parse_module(
      ".visible .func (.param .align 16 .b8 result[32], .reg .u32 %count) f(\n"
      ".param .b64 .ptr .global .align 16 f_param_0, .param .align 8 .b8 f_param_1[24],\n"
      ".reg .f32 %scale)\n{\nmov.u32 %count, 3;\nadd.f32 %scale, %scale, 1.0;\nret;\n}\n");
  const Function& f = module.functions.at(0);
  EXPECT_FALSE(f.is_entry);
  EXPECT_FALSE(f.is_declaration);
  ASSERT_EQ(f.parameters.size(), 3U);
  EXPECT_EQ(f.parameters[0].alignment, 8U) << "16 is the alignment of what the pointer points to";
  EXPECT_EQ(f.parameters[1].size(), 24U);
  EXPECT_EQ(f.parameters[1].alignment, 8U);
  EXPECT_EQ(f.parameters[2].space, Space::reg);
  ASSERT_EQ(f.return_values.size(), 2U);
  EXPECT_EQ(f.return_values[0].size(), 32U);
  const auto& written = std::get<RegisterRef>(f.body[0].operands[0].elements[0]);
  EXPECT_EQ(f.registers[written.index].name, "%count");
}

TEST(Function, DefinitionTakesThePlaceOfItsPrototype) {
  const Module module = parse_module(
      ".func (.param .b32 r) f(.param .b32 a);\n.extern .func trap_handler(.param .b64 a) "
      ".noreturn;\n"
      ".func (.param .b32 r) f(.param .b32 a)\n{\nret;\n}\n");
  ASSERT_EQ(module.functions.size(), 2U);
  ASSERT_NE(module.find_function("f"), nullptr);
  EXPECT_FALSE(module.find_function("f")->is_declaration);
  EXPECT_TRUE(module.find_function("trap_handler")->is_declaration);
  EXPECT_EQ(module.find_function("g"), nullptr);
}

TEST(Function, HasLaunchBounds) {
  const Module module = parse_module(
      ".entry a() .maxntid 256, 2 .minnctapersm 3 .maxnreg 64 .pragma \"nounroll\"; {\nret;\n}\n"
      ".entry b() .reqntid 8, 4, 2 .explicitcluster .reqnctapercluster 2, 1, 1 .maxclusterrank 8\n"
      "{\nret;\n}\n.entry c {\nret;\n}\n");
  EXPECT_THAT(module.functions[0].max_threads, ElementsAre(256U, 2U, 1U));
  EXPECT_THAT(module.functions[0].required_threads, ElementsAre(0U, 0U, 0U));
  EXPECT_EQ(module.functions[0].min_blocks_per_sm, 3U);
  EXPECT_THAT(module.functions[1].required_threads, ElementsAre(8U, 4U, 2U));
  EXPECT_EQ(module.functions[1].cluster_blocks, 2U);
  EXPECT_EQ(module.functions[2].cluster_blocks, 1U);
  EXPECT_TRUE(module.functions[2].parameters.empty());
}

TEST(Function, KeepsTheVariablesOfItsBody) {
  const Function kernel = parse_kernel(
      ".local .align 16 .b8 __local_depot0[64];\n.shared .align 4 .f32 tile[16][17];\n"
      "mov.u32 %r1, tile;");
  ASSERT_EQ(kernel.variables.size(), 2U);
  EXPECT_EQ(kernel.variables[0].space, Space::local);
  EXPECT_EQ(kernel.variables[0].size(), 64U);
  EXPECT_EQ(kernel.variables[1].space, Space::shared);
  EXPECT_EQ(kernel.variables[1].size(), 16U * 17 * 4);
}

TEST(Function, GivesItsStaticVariablesToTheModule) {
  const Module module = parse_module(
      ".entry k()\n{\n.reg .u32 %r1;\n.global .u32 calls = 5;\nld.global.u32 %r1, [calls];\n}\n");
  ASSERT_EQ(module.variables.size(), 1U);
  EXPECT_THAT(initial_elements<std::uint32_t>(module.variables[0]), ElementsAre(5U));
  EXPECT_EQ(std::get<Symbol>(module.functions[0].body[0].operands[1].elements[0]).name,
            module.variables[0].name);
}

TEST(Module, HasVersionTargetAndAddressSize) {
  const Module module = parse(".version 8.10\n.target sm_90a, debug\n.address_size 64\n");
  EXPECT_EQ(module.version_major, 8);
  EXPECT_EQ(module.version_minor, 10);
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_EQ(module.address_size, 64U);
}

TEST(Module, ReplacesAliases) {
  const Module module = parse_module(
      ".func f()\n{\nret;\n}\n.func g();\n.alias g, f;\n.entry k()\n{\ncall g, ();\n}\n");
  const Function& kernel = *module.find_function("k");
  EXPECT_EQ(std::get<Symbol>(kernel.body[0].operands[0].elements[0]).name, "f");
}

TEST(Module, SkipsDebugSectionsAndTextures) {
  const Module module = parse_module(
      ".global .texref picture;\n.global .samplerref how = { addr_mode_0 = clamp_to_edge };\n"
      ".section .debug_info\n{\n.b32 $L__end-$L__start\n.b64 $L__x\n.b8 0x1f\n$L__x:\n}\n"
      "@@DWARF .4byte 0x3\n.pragma \"nounroll\";\n# 1 \"a.cu\"\n");
  ASSERT_EQ(module.variables.size(), 2U);
  EXPECT_EQ(module.variables[0].name, "picture");
}

}  // namespace
}  // namespace simgpu::ptx
