#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "simgpu/ptx/parser_testing.h"

namespace simgpu::ptx {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::kHeader;
using ::testing::StartsWith;

std::string error_in_body(std::string_view body) {
  return error_of(std::string(kHeader) + ".entry k()\n{\n.reg .pred %p<4>;\n.reg .b32 %r<9>;\n" +
                  std::string(body) + "\n}\n");
}

TEST(ParseError, ShowsPlaceLineCaretAndWhatWasExpected) {
  EXPECT_EQ(error_in_body("  add.s32 %r1, %r2 %r3;"),
            "8:20: expected ',' or ';' after an operand, found '%r3'\n"
            "8 |   add.s32 %r1, %r2 %r3;\n"
            "  |                    ^");
}

TEST(ParseError, KeepsTheCaretUnderATab) {
  EXPECT_EQ(error_in_body("\tadd.s32 \t%r1, ;"),
            "8:16: expected an operand, found ';'\n"
            "8 |  add.s32  %r1, ;\n"
            "  |                ^");
}

TEST(ParseError, NamesAMissingLabelWhereItIsUsed) {
  EXPECT_EQ(error_in_body("@%p1 bra $L__BB0_9;"),
            "8:10: expected a label of this function, found '$L__BB0_9'\n"
            "8 | @%p1 bra $L__BB0_9;\n"
            "  |          ^");
}

TEST(ParseError, ReachesTheEndOfTheText) {
  EXPECT_EQ(
      error_of(std::string(kHeader) + ".entry k()\n{\n  ret;\n"),
      "7:1: expected '}' to end the body of 'k', which begins in line 5, found the end of the "
      "text\n"
      "7 | \n"
      "  | ^");
}

TEST(ParseError, HasNumbersForTools) {
  try {
    parse(".version 9.0\n.target sm_80\n.global .f31 x;\n");
    FAIL() << "a type that does not exist was accepted";
  } catch (const ParseError& error) {
    EXPECT_EQ(error.line(), 3U);
    EXPECT_EQ(error.column(), 9U);
    EXPECT_STREQ(error.what(),
                 "3:9: expected a type, found '.f31'\n3 | .global .f31 x;\n  |         ^");
  }
}

TEST(ParseError, ClipsALongLineAroundItsPlace) {
  const std::string error =
      error_in_body(std::string(5000, ' ') + "add.s32 %r1 %r2;" + std::string(5000, ' '));
  EXPECT_THAT(error, StartsWith("8:5013: expected ',' or ';'"));
  EXPECT_LT(error.size(), 400U);
}

TEST(ParseError, EscapesBytesThatAreNotPrintable) {
  EXPECT_THAT(error_in_body("add.s32 \x1b[31m, %r1;"),
              HasSubstr("found '\\x1b'\n8 | add.s32 \\x1b[31m, %r1;"));
}

TEST(ParseError, SaysWhatEachPlaceNeeds) {
  EXPECT_THAT(error_of(""), HasSubstr("expected .version, with which every PTX module begins"));
  EXPECT_THAT(error_of(".version nine"), HasSubstr("expected a version such as 9.0"));
  EXPECT_THAT(error_in_body("@%r1 ret;"), HasSubstr("expected a predicate register after '@'"));
  EXPECT_THAT(error_in_body("mov.u32 %r1, 0f12;"), HasSubstr("'0f12', which is malformed"));
  EXPECT_THAT(error_in_body("mov.u32 %r1, 99999999999999999999;"),
              HasSubstr("expected an integer of at most 64 bits"));
  EXPECT_THAT(error_in_body("mov.u32 %r1, 1/0;"), HasSubstr("expected a divisor other than zero"));
  EXPECT_THAT(error_in_body(".reg .b32 %r<3>;"),
              HasSubstr("'%r' is declared in this scope already"));
  EXPECT_THAT(error_in_body("a: ret;\na: ret;"), HasSubstr("'a' stands in this scope already"));
  EXPECT_THAT(error_in_body(".align 4;"), HasSubstr("expected .reg, .loc, .pragma"));
  EXPECT_THAT(error_in_body(".shared .align 3 .b8 x;"), HasSubstr("a power of two, found 3"));
  EXPECT_THAT(error_in_body(".shared .u32 a[4];\nld.shared.u32 %r1, a[b];"),
              HasSubstr("expected a register or a number as the index, found 'b'"));
  EXPECT_THAT(error_in_body("ld.u32 %r1, [%r2;"), HasSubstr("expected ']' after an address"));
  EXPECT_THAT(error_in_body("call (%r1, f;"), HasSubstr("expected ')' after the arguments"));
}

TEST(ParseError, SaysWhatAnInitialiserNeeds) {
  const auto error = [](std::string_view declaration) {
    return error_of(std::string(kHeader).append(declaration));
  };
  EXPECT_THAT(error(".global .u8 x[2] = {1, 2, 3};"), HasSubstr("'x' has no room for more values"));
  EXPECT_THAT(error(".global .u8 x[2] = {{1}, 2};"), HasSubstr("one more than 'x' has dimensions"));
  EXPECT_THAT(error(".global .u8 x[2] = 1;"), HasSubstr("expected '{' before the values"));
  EXPECT_THAT(error(".global .u32 x = 1.5;"),
              HasSubstr("expected an integer for an element of type .u32"));
  EXPECT_THAT(error(".global .f16 x = 1.5;"), HasSubstr("no initial values of 16-bit floats"));
  EXPECT_THAT(error(".global .f32 x = 0xFF(sym);"), HasSubstr("in an integer variable"));
  EXPECT_THAT(error(".global .u16 x = sym;"), HasSubstr("an element of 4 or 8 bytes"));
  EXPECT_THAT(error(".global .b8 x[1] = {0xFF0(sym)};"), HasSubstr("expected a mask of one byte"));
}

TEST(ParseError, RefusesTextThatAsksForTooMuchMemory) {
  EXPECT_THAT(error_of(std::string(kHeader) + ".global .b8 x[9][1000000000] = {{1}, {2}};"),
              HasSubstr("without wide gaps"));
  EXPECT_THAT(
      error_of(std::string(kHeader) + ".global .b64 x[] [9223372036854775807] = {{1},{2}};"),
      HasSubstr("fewer than 2^64 bytes"));
  EXPECT_THAT(error_of(std::string(kHeader) + ".global .b8 x<4000000000>;"),
              HasSubstr("a small number of variables"));
  EXPECT_THAT(error_of(std::string(kHeader) + ".file 1 \"" + std::string(5000, 'a') + "\""),
              HasSubstr("expected a file name of at most 4096 bytes, found 5000"));
  EXPECT_THAT(error_of(std::string(kHeader) + ".file 4000000000 \"a\""),
              HasSubstr("from 0 to 65535"));
}

TEST(ParseError, RefusesExpressionsTooDeepForTheStack) {
  for (const char opening : {'(', '-', '!', '~'}) {
    const std::string error =
        error_in_body("mov.u32 %r1, " + std::string(1'000'000, opening) + "1;");
    EXPECT_THAT(error, HasSubstr("nested levels")) << opening;
  }
  EXPECT_THAT(error_of(std::string(kHeader) + ".global .b8 x = " + std::string(1'000'000, '{')),
              HasSubstr("dimensions"));
}

}  // namespace
}  // namespace simgpu::ptx
