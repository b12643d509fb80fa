#include "grader/author/leaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "grader/author/passages.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Not;

const std::string kAnswer =
    "  float sum = 0.0f;\n"
    "  for (int k = threadIdx.x; k < columns; k += kWarpSize) sum += A[row * columns + k] * x[k];\n"
    "  sum = sum_over_warp(sum);\n"
    "  if (threadIdx.x == 0) y[row] = alpha * sum + beta * y[row];\n";

const std::string kOtherAnswer =
    "  double whole_row = 0.0;\n"
    "  for (int column = threadIdx.x; column < K; column += blockDim.x)\n"
    "    whole_row += double(A[blockIdx.x * K + column]) * x[column];\n";

/// A notebook with one cell, as Jupyter writes it: each line a string of its own.
std::string notebook_of(const std::string& cell) {
  nlohmann::json lines = nlohmann::json::array();
  std::istringstream stream(cell);
  for (std::string line; std::getline(stream, line);) lines.push_back(line + "\n");
  return nlohmann::json{{"cells", {{{"cell_type", "code"}, {"source", lines}}}}}.dump(1);
}

/// A course of one part, and a folder for students beside it.
class LeaksTest : public testing::Test {
 protected:
  LeaksTest() {
    course("solutions/part1/gemv.cu",
           "#include \"gemv.h\"\n"
           "// A warp takes a row: its lanes read neighbouring elements of the matrix, and add up "
           "what "
           "they have in a tree of five steps at the end.\n"
           "// BEGIN SOLUTION\n"
           "// STARTER: rooflab::todo(\"let a warp take a row\");\n" +
               kAnswer +
               "__global__ void warp_per_row(const float* A, float* y);\n"
               "// END SOLUTION\n"
               "void given();\n");
    course("solutions/part1/hidden.toml",
           "[[case]]\ntask = \"gemv\"\nname = \"one row\"\nparameters = { m = 1, k = 3001 }\n"
           "[[case]]\ntask = \"gemv\"\nname = \"a multiple of four, but not of a warp\"\n"
           "parameters = { m = 45, k = 516 }\n"
           "[[case]]\ntask = \"gemv\"\nname = \"known\"\nparameters = { m = 7, k = 9 }\n");
    course("solutions/part1/answers.key.toml",
           "[ridge]\nanswer = 12.5\nwhy = \"19.5 TFLOP/s over 1555 GB/s are twelve and a half "
           "FLOPs for "
           "each byte that crosses the memory's pins\"\n"
           "[gemm]\nanswer = 283\nformula = \"2 * n^3 / (3 * 4 * n^2)\"\n"
           "[thoughts]\nrubric = [{ points = 1, text = \"names a launch and what it costs here\" "
           "}]\n");
    course("labs/part1/part.toml",
           "[[task]]\nid = \"gemv\"\n[[task.case]]\nname = \"known\"\nparameters = { m = 7, k = 9 "
           "}\n");
    course("labs/part1/mistakes/gemv_lost_lanes/mistake.toml",
           "story = \"adds up half of the lanes only, and forgets the others\"\n"
           "[[edit]]\nfind = 'x'\nreplace = 'sum += __shfl_down_sync(kHalfOfTheLanes, sum, 8) * 2 "
           "+ lost[lane] - kept[lane]'\n");
    course("labs/part1/right/gemv_by_blocks/right.toml", "task = \"gemv\"\n");
    course("labs/part1/right/gemv_by_blocks/gemv.cu", kOtherAnswer);
    course("labs/toolkit/warp.h", "// given to all\n");
  }

  void course(const fs::path& file, const std::string& text) {
    write_file_atomically(course_.path() / file, text);
  }
  void kit(const fs::path& file, const std::string& text) {
    write_file_atomically(kit_.path() / file, text);
  }
  std::vector<Leak> leaks() const {
    return find_leaks(kit_.path(), {course_.path() / "labs", course_.path() / "solutions",
                                    course_.path() / "docs/examples"});
  }
  std::vector<std::string> stories() const {
    std::vector<std::string> all;
    for (const Leak& leak : leaks()) all.push_back(describe(leak));
    return all;
  }

 private:
  TemporaryFolder course_{fs::temp_directory_path()};
  TemporaryFolder kit_{fs::temp_directory_path()};
};

TEST_F(LeaksTest, FindsASolutionInACellOfANotebook) {
  kit("notebooks/part1.ipynb", notebook_of("%%rooflab 1 gemv\n" + kAnswer));
  EXPECT_THAT(stories(), ElementsAre(testing::HasSubstr("part1/gemv.cu")));
  kit("notebooks/part1.ipynb", notebook_of("say \"one row\" and nothing else\n"));
  EXPECT_THAT(leaks(), testing::SizeIs(1));
  kit("notebooks/part1.ipynb", notebook_of("%%rooflab 1 gemv\n// Your kernel goes here.\n"));
  EXPECT_THAT(leaks(), IsEmpty());
  kit("notebooks/part1.ipynb", "no notebook");
  EXPECT_THAT(leaks(), testing::SizeIs(1));
}

TEST_F(LeaksTest, WhatTheStarterHoldsIsNoLeak) {
  kit("starter/part1/gemv.cu",
      "#include \"gemv.h\"\n"
      "// A warp takes a row: its lanes read neighbouring elements of the matrix, and add up what "
      "they have in a tree of five steps at the end.\n"
      "rooflab::todo(\"let a warp take a row\");\nvoid given();\n");
  EXPECT_THAT(leaks(), IsEmpty());
}

TEST_F(LeaksTest, FindsASolutionWithItsPlace) {
  kit("handouts/part1.md", "As an example:\n\n```cpp\n" + kAnswer + "```\n");
  EXPECT_THAT(stories(),
              ElementsAre("handouts/part1.md:4: solution of solutions/part1/gemv.cu:3: float sum 0 "
                          "0f for int k threadidx x k columns k …"));
}

TEST_F(LeaksTest, FindsARightSubmission) {
  kit("handouts/part1.md", "As an example:\n\n```cpp\n" + kOtherAnswer + "```\n");
  EXPECT_THAT(leaks(),
              ElementsAre(AllOf(Field(&Leak::what, "right submission"),
                                Field(&Leak::origin, "labs/part1/right/gemv_by_blocks/gemv.cu"))));
}

TEST_F(LeaksTest, FindsAnImplementationThatStudentsTestsAreRunAgainst) {
  const std::string planted =
      "int planted = rows * 17 + columns * 4 - lanes / 2 + warps % 5 - tiles * 3 + "
      "offset * stride - first * last + left * right - top * bottom;\n";
  course("labs/part1/tested/hidden/gemv_tests.cu", planted);
  kit("handouts/part1.md", planted);
  EXPECT_THAT(leaks(),
              ElementsAre(AllOf(Field(&Leak::what, "implementation to be tested"),
                                Field(&Leak::origin, "labs/part1/tested/hidden/gemv_tests.cu"))));
}

TEST_F(LeaksTest, FindsASolutionThatIsLaidOutAnew) {
  std::string quoted = "> ";
  for (const char c : kAnswer)
    quoted += c == ';' || c == '(' ? std::string(1, c) + "\n>  " : std::string(1, c);
  kit("handouts/part1.md", quoted);
  EXPECT_THAT(leaks(), ElementsAre(Field(&Leak::what, "solution")));
}

TEST_F(LeaksTest, FindsASolutionInACompiledFile) {
  kit("build/bin/grader", std::string("\x7f"
                                      "ELF\0\1\2",
                                      7) +
                              kAnswer + std::string("\0\3", 2));
  EXPECT_THAT(leaks(), ElementsAre(AllOf(Field(&Leak::what, "solution"), Field(&Leak::line, 0))));
}

TEST_F(LeaksTest, KnowsACompiledSolutionByItsKernels) {
  kit("build/lib/gemv.o", std::string("\0_Z12warp_per_rowPKfPf\0", 23));
  EXPECT_THAT(stories(), ElementsAre("build/lib/gemv.o: solution of solutions/part1/gemv.cu:3: "
                                     "warp_per_row"));
}

TEST_F(LeaksTest, ALineThatSolutionsShareWithOtherCodeIsNoLeak) {
  kit("labs/toolkit/sum.cu",
      "if (threadIdx.x == 0) y[row] = alpha * sum + beta * y[row];\n__syncthreads();\n}\n");
  EXPECT_THAT(leaks(), IsEmpty());
}

TEST_F(LeaksTest, WhatTheToolkitSaysIsKnownToAll) {
  course("labs/toolkit/warp.h", kAnswer);
  kit("labs/toolkit/warp.h", kAnswer);
  EXPECT_THAT(leaks(), IsEmpty());
}

TEST_F(LeaksTest, WhatAnExampleShowsIsKnownToAll) {
  kit("handouts/page.md", kOtherAnswer);
  EXPECT_FALSE(leaks().empty());
  course("docs/examples/rows.cu", "// An example.\n" + kOtherAnswer);
  EXPECT_TRUE(leaks().empty());
}

TEST_F(LeaksTest, ASignatureOfThePublicInterfaceIsNoLeak) {
  const std::string signature =
      "template <typename T>\nvoid multiply(const rooflab::Matrix<T>& matrix, const T* vector, T* "
      "result, int rows, int columns, float alpha, float beta, cudaStream_t stream)";
  course("labs/part1/interface/gemv.h", signature + ";\n");
  course("labs/part1/right/gemv_by_blocks/gemv.cu", signature + " {\n  launch(rows);\n}\n");
  kit("labs/part1/interface/gemv.h", signature + ";\n");
  EXPECT_THAT(leaks(), IsEmpty());
}

TEST_F(LeaksTest, FindsTheNumbersOfAHiddenCaseHoweverTheyAreLaidOut) {
  kit("docs/notes.md", "Try m = 45 and then\n`k = 516`; also {\"m\": 1, \"k\": 3001}\n");
  EXPECT_THAT(
      stories(),
      ElementsAre("docs/notes.md:2: hidden case of solutions/part1/hidden.toml:1: m 1 k 3001"));
  kit("docs/notes.md", "m = 45, k = 516\n");
  EXPECT_THAT(leaks(), ElementsAre(Field(&Leak::origin, "solutions/part1/hidden.toml:5")));
}

TEST_F(LeaksTest, FindsTheNameOfAHiddenCase) {
  kit("cases.json", "{\"name\":\"one row\"}\n\"A multiple of four, but not of a warp\"");
  EXPECT_THAT(leaks(), ElementsAre(Field(&Leak::line, 1), Field(&Leak::line, 2)));
}

TEST_F(LeaksTest, AShortNameInASentenceAndAPublicCaseAreNoLeaks) {
  kit("handouts/part1.md", "A block takes one row, which is \"known\": m = 7, k = 9\n");
  EXPECT_THAT(leaks(), IsEmpty());
}

TEST_F(LeaksTest, FindsTheReasonOfAnAnswer) {
  kit("handouts/part1.md",
      "19.5 TFLOP/s over 1555 GB/s are twelve and a half FLOPs\nfor each byte\n");
  EXPECT_THAT(leaks(), ElementsAre(Field(&Leak::what, "answer key")));
}

TEST_F(LeaksTest, FindsTheFormulaAndTheRubricOfAnAnswer) {
  kit("labs/part1/part.toml", "prompt = \"how many? (2*n^3) / (3*4*n^2)\"\n");
  kit("program", std::string("\0names a launch and what it costs here\0", 39));
  EXPECT_THAT(leaks(),
              ElementsAre(Field(&Leak::what, "answer key"), Field(&Leak::what, "answer key")));
}

TEST_F(LeaksTest, FindsTheNameTheStoryAndTheCodeOfAMistake) {
  kit("name.txt", "see gemv_lost_lanes\n");
  kit("story.so", std::string("\0it adds up half of the lanes only, and forgets the others\0", 59));
  kit("code.cu",
      "sum += __shfl_down_sync(kHalfOfTheLanes, sum, 8) * 2 + lost[lane] - kept[lane];\n");
  EXPECT_THAT(leaks(), ElementsAre(Field(&Leak::file, "code.cu"), Field(&Leak::file, "name.txt"),
                                   Field(&Leak::file, "story.so")));
}

TEST_F(LeaksTest, FindsFilesByTheirNames) {
  kit("labs/part1/hidden.toml", "");
  kit("labs/part1/mistakes/a/gemv.cu", "");
  kit("labs/part1/oracle/gemv.cpp", "");
  kit("labs/part1/right/b/right.toml", "");
  kit("ridge.key.toml", "");
  kit("rest.zip", "");
  EXPECT_THAT(stories(),
              ElementsAre("labs/part1/hidden.toml: file of hidden cases: hidden.toml",
                          "labs/part1/mistakes/a/gemv.cu: file of a planted mistake: gemv.cu",
                          "labs/part1/oracle/gemv.cpp: source of an oracle: gemv.cpp",
                          "labs/part1/right/b/right.toml: file of a right submission: right.toml",
                          "rest.zip: packed file, which cannot be searched: rest.zip",
                          "ridge.key.toml: file of answers: ridge.key.toml"));
}

TEST_F(LeaksTest, FindsAMasterThatWasNotStripped) {
  kit("starter/part1/gemv.cu", "  // BEGIN SOLUTION\n  // END SOLUTION\n");
  EXPECT_THAT(stories(),
              ElementsAre("starter/part1/gemv.cu:1: mark of a solution: // BEGIN SOLUTION"));
}

TEST(PassagesTest, NoPassageGoesAcrossTheStringsOfACompiledFile) {
  Passages passages;
  passages.add(words_of("one two three four five six seven"), 4, 4, 7);
  using namespace std::string_literals;
  EXPECT_THAT(passages.find(words_of_compiled("one two three\0four five six\0"s)), IsEmpty());
  EXPECT_THAT(passages.find(words_of_compiled("\0two three four five\0"s)), Not(IsEmpty()));
}

TEST(PassagesTest, ATextOfTooFewWordsIsNotLookedFor) {
  Passages passages;
  passages.add(words_of("return 2 * n;"), 20, 6, 0);
  EXPECT_THAT(passages.find(words_of("return 2 * n;")), IsEmpty());
}

}  // namespace
}  // namespace rooflab
