#include "grader/mutation/mutants.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "grader/mutation/code_tokens.h"
#include "grader/mutation/constants.h"

namespace rooflab::mutation {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// "`<` to `<=`" for each mutant of a function's body.
std::vector<std::string> changes_in(const std::string& text) {
  std::vector<std::string> changes;
  for (const Mutant& mutant : with_mutants(text).mutants) {
    changes.push_back(mutant.before + " to " + mutant.after);
  }
  return changes;
}

std::string in_function(const std::string& body) {
  return "void f(int row, int column, const float* in, float* out) {\n" + body + "\n}\n";
}

TEST(Mutants, ComparisonsAreMadeWiderAndTurnedAround) {
  const auto changes = changes_in(in_function("if (row < column) return;"));
  EXPECT_THAT(changes, Contains("< to <="));
  EXPECT_THAT(changes, Contains("< to >"));
}

TEST(Mutants, NumbersGetTheirNeighboursAndAnyValue) {
  const MutableSource source = with_mutants(in_function("out[row] = 0.5f * in[row];"));
  const auto any = std::ranges::find(source.mutants, true, &Mutant::is_any_value);
  ASSERT_NE(any, source.mutants.end());
  EXPECT_EQ(any->before, "0.5f");
  EXPECT_EQ(any->line, 2u);
}

TEST(Mutants, VariablesBecomeOthersOfTheirTypeThatAreKnownThere) {
  const auto changes = changes_in(
      in_function("{ int inner = 1; }\nfloat sum = 0.0f;\nout[row] = sum;\nint later = 2;"));
  EXPECT_THAT(changes, Contains("row to column"));
  EXPECT_THAT(changes, Not(Contains("row to inner")));
  EXPECT_THAT(changes, Not(Contains("row to later")));
  EXPECT_THAT(changes, Not(Contains("row to sum")));
}

TEST(Mutants, AVariableThatIsAssignedKeepsItsName) {
  const std::string text = with_mutants(in_function("row = column; ++row;")).text;
  EXPECT_THAT(text, HasSubstr("set("));
  EXPECT_THAT(text, HasSubstr("++row"));
}

TEST(Mutants, AnIndexOfTwoNamesIsExchangedAsAWhole) {
  EXPECT_THAT(changes_in("void f(int i, int j, int n, float* out) { out[i * n + j] = 1.0f; }"),
              Contains("i * n + j to j * n + i"));
}

TEST(Mutants, AProductInBracketsBecomesALengthThatHasAName) {
  const auto changes = changes_in(
      "void f(int columns, float s, float* x) { int r = blockIdx.x;\n"
      "x[r * (gridDim.x * 32) + 1] = s * (s + 1.0f); g(columns * 2); }");
  EXPECT_THAT(changes, Contains("(gridDim.x * 32) to columns"));
  EXPECT_THAT(changes, Not(Contains("(s + 1.0f) to columns"))) << "no length";
  EXPECT_THAT(changes, Not(Contains("(columns * 2) to r"))) << "an argument";
}

TEST(Mutants, AnOperandBehindACallGoesIntoIt) {
  EXPECT_THAT(changes_in(in_function("out[row] = tanhf(in[row]) / column;")),
              Contains("tanhf(in[row]) / column to tanhf(in[row] / column)"));
  EXPECT_THAT(changes_in(in_function("out[row] = sqrtf(in[row] / 3.0f);")),
              Contains("sqrtf(in[row] / 3.0f) to sqrtf(in[row]) / 3.0f"));
  EXPECT_THAT(changes_in(in_function("out[row] = sqrtf(in[0] + in[1] / 3.0f);")),
              Not(Contains(HasSubstr("to sqrtf("))))
      << "the divisor is that of one term alone";
  EXPECT_THAT(changes_in(in_function("out[row] = tanhf(in[row]) / g(column);")),
              Not(Contains(HasSubstr("to tanhf("))))
      << "g may do something";
}

TEST(Mutants, MissingParenthesesAreSetAroundASum) {
  const auto changes = changes_in(in_function("out[row] = in[row] * 1.0f + in[column];"));
  EXPECT_THAT(changes, Contains("in[row] * 1.0f + in[column] to in[row] * (1.0f + in[column])"));
  const auto quotients = changes_in(in_function("out[row] = in[row] - in[column] / 3.0f;"));
  EXPECT_THAT(quotients, Contains("in[row] - in[column] / 3.0f to (in[row] - in[column]) / 3.0f"));
}

TEST(Mutants, AFactorMovesToTheOtherOperandOfASum) {
  const auto changes =
      changes_in(in_function("float a = 0, b = 1; out[row] = a + b * in[row] * b;"));
  EXPECT_THAT(changes, Not(Contains(HasSubstr("to a * "))));
  EXPECT_THAT(changes_in(in_function("float a = 0, b = 1; out[row] = a + in[row] * b;")),
              Contains("a + in[row] * b to a * b + in[row]"));
  EXPECT_THAT(changes_in(in_function("float a = 0, b = 1; out[row] = in[row] * b + a;")),
              Contains("in[row] * b + a to in[row] + a * b"));
}

TEST(Mutants, AThreadsPlaceMayBeThatInTheWarp) {
  EXPECT_THAT(changes_in(in_function("int lane = row % 32; if (threadIdx.x == 0) out[row] = 1;")),
              Contains("threadIdx.x to lane"));
}

TEST(Mutants, ACountMayLackAConstantOfTheType) {
  EXPECT_THAT(changes_in(in_function("constexpr int V = width<T>();\nconst int at = row;")),
              Contains("row to * V"));
}

TEST(Mutants, AVariableOfAnOuterLoopBeginsAnewInEachTurn) {
  const std::string loops =
      "for (int i = 0; i < row; ++i) { for (int k = 0; k < 3; ++k) sum += in[k]; out[i] = sum; }";
  EXPECT_THAT(changes_in(in_function("float sum = 0.0f;\n" + loops)), Contains("sum to 0.0f"));
  EXPECT_THAT(changes_in(in_function("Sums sum;\n" + loops)), Contains("sum to {}"));
  EXPECT_THAT(changes_in(in_function("float sum[4] = {0.0f};\n" + loops)), Contains("sum to {}"));
  EXPECT_THAT(changes_in(in_function("float sum = in[0];\n" + loops)),
              Not(Contains(HasSubstr("sum to in"))))
      << "in[0] may be another one by then";
  EXPECT_THAT(
      changes_in(in_function("float sum = 0.0f;\nfor (int k = 0; k < 3; ++k) { sum += in[k]; }")),
      Not(Contains("sum to 0.0f")))
      << "that loop is what adds up";
}

TEST(Mutants, TheNumbersOfABlockAreExchanged) {
  EXPECT_THAT(changes_in(in_function("g<<<row, dim3(32, column / 4)>>>(in, out);")),
              Contains("32, column / 4 to column / 4, 32"));
  EXPECT_THAT(changes_in(in_function("dim3 block(kWide, kHigh, 1);")),
              Contains("kWide, kHigh to kHigh, kWide"));
}

TEST(Mutants, ABlockMayTakeMoreThanItsIndexSays) {
  EXPECT_THAT(changes_in(in_function("out[(long)blockIdx.x * 64 + row] = 0.0f;")),
              Contains("blockIdx.x to * column"));
}

TEST(Mutants, ABlockMayTakeMoreAlsoWhereItsIndexComesLast) {
  EXPECT_THAT(changes_in(in_function("out[64 * blockIdx.x + row] = 0.0f;")),
              Contains("blockIdx.x to * column"));
  EXPECT_THAT(changes_in(in_function("out[static_cast<long>(blockIdx.x) * 64] = 0.0f;")),
              Contains("blockIdx.x to * column"));
}

TEST(Mutants, AWholeNumberMayLackASummandOrItsRest) {
  const auto changes =
      changes_in("constexpr int kRadius = 3;\n" + in_function("const int at = row * kRadius;"));
  EXPECT_THAT(changes, Contains("row * kRadius to + kRadius"));
  EXPECT_THAT(changes, Contains("row * kRadius to - kRadius"));
  EXPECT_THAT(changes, Contains("row * kRadius to % column"));
}

TEST(Mutants, ANameThatASumAddsMayLackAFactor) {
  const auto changes = changes_in(
      "constexpr int kFour = 4;\nvoid f(int vectors, int first) {\n"
      "const int tail = vectors + first; g(tail * kFour); }");
  EXPECT_THAT(changes, Contains("vectors to * kFour"));
  EXPECT_THAT(changes, Contains("first to * kFour"));
}

TEST(Mutants, AConstantOfFloatingPointIsANumber) {
  EXPECT_THAT(changes_in(in_function("const float c = 0.5f; out[row] = c;")),
              Contains("0.5f to 1"));
  EXPECT_THAT(changes_in(in_function("const int c = 5; float x[c];")), Not(Contains("5 to 1")));
}

std::string in_kernel(const std::string& body) {
  return "__global__ void f(const float* in, float* out, int rows, int columns) {\n" + body + "\n}";
}

TEST(Mutants, AnAccessMayLackABound) {
  const auto changes = changes_in(in_kernel("int r = g(), c = g();\nout[r * columns + c] = 1.0f;"));
  EXPECT_THAT(changes, Contains(HasSubstr("to `if (r < rows)` before it")));
  EXPECT_THAT(changes, Contains(HasSubstr("to `if (c < columns)` before it")));
}

TEST(Mutants, AValueThatIsReadMayLackABound) {
  const auto changes = changes_in(in_kernel("int i = g();\nfloat left = in[i - 1];"));
  EXPECT_THAT(changes, Contains("in[i - 1] to 0 in its place unless `i - 1 >= 0`"));
  EXPECT_THAT(changes, Contains("in[i - 1] to 0 in its place unless `i < columns`"));
}

TEST(Mutants, TheTailOfAnIndexMayNeedTheBound) {
  const auto changes =
      changes_in(in_kernel("int r = g(), lane = g();\nfor (int t = 0; t < rows; ++t)\n"
                           "out[t] = in[r * columns + t * 32 + lane];"));
  EXPECT_THAT(changes, Contains(HasSubstr("unless `t * 32 + lane < columns`")));
}

TEST(Mutants, AnIndexThatAConditionComparesNeedsNoBound) {
  for (const std::string compared :
       {"if (r < rows) out[r] = 1.0f;", "if (r >= rows) return;\nout[r] = 1.0f;",
        "for (r = 0; r < rows; ++r) out[r] = 1.0f;", "const bool is = r < rows; out[r] = 2.0f;",
        "if ((c < 3) && (r < rows)) { out[r] = 1; }"}) {
    EXPECT_THAT(changes_in(in_kernel("int r = g(), c = g(columns);\n" + compared)),
                Not(Contains(HasSubstr("if (r < "))))
        << compared;
  }
  EXPECT_THAT(changes_in(in_kernel("int r = g();\nif (r < 3) g();\nout[r] = 1.0f;")),
              Contains(HasSubstr("to `if (r < rows)` before it")));
}

TEST(Mutants, AnIndexMayNeedAParameterThatTheFunctionDoesNotUse) {
  const std::string loop = "int end = g();\nfor (int i = 0; i < end; ++i) out[i] = 1.0f;";
  EXPECT_THAT(changes_in(in_kernel(loop)), Contains(HasSubstr("to `if (i < columns)` before it")));
  EXPECT_THAT(changes_in(in_kernel("g(columns);\n" + loop)),
              Not(Contains(HasSubstr("`if (i < columns)`"))));
}

TEST(Mutants, AParameterMayBeOfAWholeTypeOfTheLibrary) {
  EXPECT_THAT(changes_in("void f(float* out, std::int64_t n) { int i = g(); out[i] = 1.0f; }"),
              Contains(HasSubstr("to `if (i < n)` before it")));
}

TEST(Mutants, AConditionMayLackTheOtherIndexOfWhatItGuards) {
  EXPECT_THAT(changes_in(in_kernel(
                  "int r = g(), c = g();\nif (c < columns) { g(); out[r * columns + c] = 1; }")),
              Contains("c < columns to `&& r < rows` in the condition"));
}

TEST(Mutants, AKernelMayHaveToReturnBehindItsIndex) {
  const std::string index = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
  const std::string change = "i to `if (i >= rows) return;` behind its declaration";
  EXPECT_THAT(changes_in(in_kernel(index)), Contains(change));
  EXPECT_THAT(changes_in(in_kernel("{ " + index + " }")), Not(Contains(change))) << "in a turn";
  EXPECT_THAT(changes_in("float f(int rows) { " + index + "return 1.0f; }"), Not(Contains(change)))
      << "no kernel";
}

TEST(Mutants, ArraysOfABlockGetNoBounds) {
  EXPECT_THAT(changes_in(in_kernel("__shared__ float tile[32];\nint i = g();\ntile[i] = 1.0f;")),
              Not(Contains(HasSubstr("if (i < "))));
}

TEST(Mutants, TwoNamesOfAStatementAreExchangedEverywhere) {
  EXPECT_THAT(changes_in("void f(int rows, int columns) { g(h(rows, 8), h(columns, 8), rows); }"),
              Contains("rows` and `columns to columns` and `rows"));
}

TEST(Mutants, ACountMayLackAFactorThatTheFileKnows) {
  EXPECT_THAT(changes_in("constexpr int kPatch = 4;\nvoid f(int me) { int c = me; g(c, kPatch); }"),
              Contains("me to * kPatch"));
}

TEST(Mutants, ACountMayBeOfAnyWholeTypeThatTheFileNames) {
  for (const std::string type : {"std::int64_t", "i64", "Index", "long long", "unsigned"}) {
    EXPECT_THAT(
        changes_in("typedef std::int64_t i64;\nusing Index = i64;\nconstexpr int kPatch = 4;\n"
                   "void f(int me) { " +
                   type + " c = me; g(c, kPatch); }"),
        Contains("me to * kPatch"))
        << type;
  }
}

TEST(Mutants, ACountMayLackAFactorThatIsUsedElsewhereInTheFunction) {
  const auto changes = changes_in(
      "void f(int me) { int c = me; int d = c * width<T>; int e = d * VEC(T); "
      "g(d * h(c), d * AT(c, d)); }");
  EXPECT_THAT(changes, Contains("me to * width<T>"));
  EXPECT_THAT(changes, Contains("me to * VEC(T)"));
  EXPECT_THAT(changes, Not(Contains(HasSubstr("to * h"))));
  EXPECT_THAT(changes, Not(Contains(HasSubstr("to * AT"))));
}

TEST(Mutants, ASummandMayLackANumberByWhichTheFunctionDivides) {
  const auto changes = changes_in(
      "__global__ void f(int n, int me) { const int q = n / 4; for (int i = me; i < q; i += 1) "
      "g(i); "
      "const int rest = q + me; if (rest < n) g(rest); }");
  EXPECT_THAT(changes, Contains("q to * 4"));
  EXPECT_THAT(changes, Not(Contains(HasSubstr("to * 1"))));
}

TEST(Mutants, TheStepOfALoopMayBeThatOfAllBlocks) {
  EXPECT_THAT(changes_in("__global__ void f(int n) { for (int i = 0; i < n; i += 32) g(i); }"),
              Contains("32 to * gridDim.x"));
}

TEST(Mutants, ADivisionNamesTheVariantInWhichItsQuotientIsZero) {
  const auto mutants = with_mutants(in_function("int x = row * column;")).mutants;
  const auto division = std::ranges::find(mutants, "/", &Mutant::after);
  ASSERT_NE(division, mutants.end());
  EXPECT_EQ(division->vanished, division->number / 16 * 16 + 15);
}

TEST(Mutants, AxesOfAThreadAreMistakenForOthers) {
  const auto changes = changes_in("__global__ void f(int* out) { out[threadIdx.x] = 1; }");
  EXPECT_THAT(changes, Contains("threadIdx.x to threadIdx.y"));
  EXPECT_THAT(changes, Contains("threadIdx.x to blockIdx.x"));
}

TEST(Mutants, TwoStatementsMayStandInTheOtherOrder) {
  const MutableSource source = with_mutants(in_function("out[0] = in[0];\nout[1] = out[0];"));
  const auto order = std::ranges::find(source.mutants, MutantKind::order, &Mutant::kind);
  ASSERT_NE(order, source.mutants.end());
  EXPECT_EQ(order->line, 2u);
}

TEST(Mutants, WhatIsNoOperatorStaysAsItIs) {
  for (const std::string body :
       {"const float* p = in;", "auto x = static_cast<float>(row);", "std::vector<int> v(row);",
        "constexpr int kSide = 16;", "__shared__ float tile[16][17];",
        "__shared__ struct tile tile;", "Scope scope(in);",
        "auto f = [](const float* a) { return a; };", "int x = row >> column;"}) {
    const std::string text = with_mutants(in_function(body)).text;
    const std::string kept = body.substr(0, body.find_first_of("=(") + 1);
    EXPECT_THAT(text, HasSubstr(kept)) << body;
    EXPECT_THAT(text, Not(HasSubstr("Less"))) << body;
    EXPECT_THAT(text, Not(HasSubstr("Product"))) << body;
  }
}

TEST(Mutants, ArrayLengthsAndTemplateArgumentsStayConstant) {
  const std::string text =
      with_mutants(in_function("__shared__ float tile[16][17];\nfoo<16>(row);")).text;
  EXPECT_THAT(text, HasSubstr("tile[16][17]"));
  EXPECT_THAT(text, HasSubstr("foo<16>("));
}

TEST(Mutants, LinesToSkipAreLeftAlone) {
  const std::string text = in_function("out[row] = 1.0f;\nout[column] = 2.0f;");
  const MutableSource source = with_mutants(text, {2});
  EXPECT_THAT(source.text, HasSubstr("out[row] = 1.0f;"));
  EXPECT_TRUE(std::ranges::none_of(source.mutants, [](const Mutant& m) { return m.line == 2; }));
  EXPECT_TRUE(std::ranges::any_of(source.mutants, [](const Mutant& m) { return m.line == 3; }));
}

TEST(Mutants, LinesKeepTheirNumbers) {
  const std::string text = in_function("// nothing\nout[row] = in[column];\n/* two\nlines */ row;");
  const std::string mutated = with_mutants(text).text;
  EXPECT_EQ(std::ranges::count(mutated, '\n'), std::ranges::count(text, '\n') + 3);
}

TEST(Mutants, NumbersOfAPlaceFollowAMultipleOfSixteen) {
  const auto mutants =
      with_mutants(in_function("out[row * 4 + column] += in[row] / 2.0f;")).mutants;
  int before = 0;
  for (const Mutant& mutant : mutants) {
    EXPECT_GT(mutant.number, before);
    EXPECT_NE(mutant.number % 16, 0);
    before = mutant.number;
  }
  EXPECT_GT(mutants.size(), 20u);
}

TEST(Mutants, LambdasThatSeeAllVariablesAreGoneThrough) {
  const auto changes =
      changes_in(in_function("auto fits = [&](int n) {\nconst int bytes = 3 * n;\nreturn bytes <= "
                             "row;\n};\nout[0] = fits(2);"));
  EXPECT_THAT(changes, Contains("3 to 3 + 1"));
  EXPECT_THAT(changes, Contains("<= to <"));
  EXPECT_THAT(changes, Contains("n to row"));
  EXPECT_THAT(changes_in(in_function("auto f = [](int n) { return 3 * n; };")),
              Not(Contains("3 to 3 + 1")));
}

TEST(Mutants, BrokenSourcesHaveNone) {
  for (const char* text : {"", "void f(", "}}}", "void f() { if (", "void f() { for (;", "(((",
                           "void f() { a <", "alignas", "void f() { alignas", "#line 7\nint x;"}) {
    EXPECT_NO_THROW(with_mutants(text)) << text;
  }
}

TEST(Mutants, HostileSourcesAreGoneThroughInLittleTimeAndLittleOfTheStack) {
  const auto times = [](std::size_t count, const std::string& text) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
  };
  EXPECT_THAT(
      with_mutants("void f() { x = " + times(5000, "(") + "1" + times(5000, ")") + "; }").mutants,
      IsEmpty());
  EXPECT_THAT(with_mutants("void f() " + times(100'000, "{") + times(100'000, "}")).mutants,
              IsEmpty());
  EXPECT_THAT(with_mutants(in_function(times(10'000, "out[row] = 1.0f;"))).mutants, IsEmpty());
  EXPECT_NO_THROW(with_mutants(in_function(times(3000, "if (row) ") + ";")));
  EXPECT_NO_THROW(with_mutants(in_function(times(1500, "if (row) ; else ") + ";")));
  EXPECT_NO_THROW(with_mutants(in_function("f(" + times(4000, "row, ") + "row);")));
  EXPECT_NO_THROW(with_mutants(in_function("row = " + times(4000, "column = ") + "1;")));
  std::string extents;
  for (int i = 0; i < 900; ++i) extents += "int a" + std::to_string(i) + " = row * column;\n";
  for (int i = 0; i < 900; ++i) extents += "if (row < a" + std::to_string(i) + ") out[row] = 1;\n";
  EXPECT_NO_THROW(with_mutants(in_function(extents)));
}

TEST(Mutants, APlaceHasAtMostFifteen) {
  std::string members;
  for (int i = 0; i < 40; ++i) members += "x += shape.m" + std::to_string(i) + ";\n";
  const auto mutants = with_mutants("void f(Shape shape) { int x = 0;\n" + members + "}").mutants;
  std::map<int, int> of_place;
  for (const Mutant& mutant : mutants) {
    EXPECT_NE(mutant.number % 16, 0);
    ++of_place[mutant.number / 16];
  }
  for (const auto& [place, count] : of_place) EXPECT_LE(count, 15);
  EXPECT_GT(of_place.size(), 40u);
}

TEST(CodeTokens, OperatorsAndNumbersAreWhole) {
  const Code code("a<<<1>>>b 1e-5f .5f x->y a<=b i++ 0x1e+2");
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < code.size(); ++i) tokens.push_back(code.at(i).text);
  EXPECT_THAT(tokens, ::testing::ElementsAre("a", "<<<", "1", ">>>", "b", "1e-5f", ".5f", "x", "->",
                                             "y", "a", "<=", "b", "i", "++", "0x1e", "+", "2"));
}

TEST(ConstantValues, AreThoseOfTheFile) {
  const Code code("constexpr float kScale = 0.25f; int n = f();");
  EXPECT_EQ(value_of("kScale", code), 0.25);
  EXPECT_EQ(value_of("1e-5f", code), 1e-5);
  const Code macros("#define SIDE 32  // threads\n#define OTHER (SIDE * 2)\n#define SIDES 8\n");
  EXPECT_EQ(value_of("SIDE", macros), 32);
  EXPECT_EQ(value_of("SIDES", macros), 8);
  EXPECT_TRUE(std::isnan(value_of("OTHER", macros)));
  EXPECT_TRUE(std::isnan(value_of("n", code)));
}

}  // namespace
}  // namespace rooflab::mutation
