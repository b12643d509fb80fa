#include "grader/author/starter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

using testing::ElementsAre;

std::string error_of(const std::string& text) {
  try {
    strip_solution(text, "gemm.cu");
  } catch (const StarterError& error) {
    return error.what();
  }
  return "no error";
}

TEST(StripSolutionTest, LeavesWhatTheStarterLinesSayInPlaceOfARegion) {
  EXPECT_EQ(strip_solution("void f() {\n"
                           "  // BEGIN SOLUTION\n"
                           "  // STARTER: rooflab::todo(\"launch a kernel\");\n"
                           "  // STARTER:\n"
                           "  // STARTER:   (void)0;\n"
                           "  g<<<1, 1>>>();\n"
                           "  // a comment of the solution\n"
                           "  // END SOLUTION\n"
                           "}\n",
                           "gemm.cu"),
            "void f() {\n"
            "  rooflab::todo(\"launch a kernel\");\n"
            "\n"
            "    (void)0;\n"
            "}\n");
}

TEST(StripSolutionTest, RemovesARegionThatHasNoStarterLines) {
  EXPECT_EQ(strip_solution("a\n// BEGIN SOLUTION\nsecret\n// END SOLUTION\nb\n", "x.cu"), "a\nb\n");
}

TEST(StripSolutionTest, KnowsTheMarksOfTomlFiles) {
  EXPECT_EQ(
      strip_solution("# BEGIN SOLUTION\n# STARTER: ridge = \"\"\nridge = 12.5\n# END SOLUTION\n",
                     "a.toml"),
      "ridge = \"\"\n");
}

TEST(StripSolutionTest, MarksThatDoNotPairUpAreNamedByLine) {
  EXPECT_EQ(error_of("a\n// BEGIN SOLUTION\nb\n"),
            "gemm.cu:2: BEGIN SOLUTION without an END; add END SOLUTION below it");
  EXPECT_EQ(error_of("// END SOLUTION\n"),
            "gemm.cu:1: END SOLUTION without a BEGIN; add BEGIN SOLUTION above it");
  EXPECT_EQ(error_of("// BEGIN SOLUTION\n// BEGIN SOLUTION\n"),
            "gemm.cu:2: a second BEGIN SOLUTION; end the region of line 1 first");
  EXPECT_EQ(error_of("// BEGIN SOLUTION\nsecret\n// STARTER: late\n// END SOLUTION\n"),
            "gemm.cu:3: STARTER: stands in no region's head; put it right after BEGIN SOLUTION");
}

class StarterTest : public testing::Test {
 protected:
  StarterTest() : folder_(testing::TempDir()) {
    write("solutions/part7-test/scale.cu",
          "// BEGIN SOLUTION\n// STARTER: todo\nsecret\n// END SOLUTION\n");
    write("solutions/part7-test/hidden.toml", "secret");
    write("solutions/part7-test/answers.key.toml", "secret");
    write("solutions/part7-test/answers.toml", "# BEGIN SOLUTION\nsecret = 1\n# END SOLUTION\n");
  }
  void write(const std::string& path, const std::string& text) const {
    write_file_atomically(folder_.path() / path, text);
  }
  std::vector<std::string> differences() const {
    return compare_starter(starter(), generate_starter(folder_.path() / "solutions"));
  }
  std::filesystem::path starter() const { return folder_.path() / "starter"; }

  TemporaryFolder folder_;
};

TEST_F(StarterTest, NeverHoldsHiddenCasesNorKeysNorAnswers) {
  const auto files = generate_starter(folder_.path() / "solutions");
  ASSERT_EQ(files.size(), 2U);
  for (const StarterFile& file : files)
    EXPECT_EQ(file.text.find("secret"), std::string::npos) << file.path;
}

TEST_F(StarterTest, IsCheckedFileByFile) {
  EXPECT_THAT(differences(),
              ElementsAre("part7-test/answers.toml is missing", "part7-test/scale.cu is missing"));
  write("starter/part7-test/scale.cu", "edited by hand\n");
  write("starter/part7-test/old.cu", "");
  EXPECT_THAT(differences(), ElementsAre("part7-test/answers.toml is missing",
                                         "part7-test/scale.cu differs from its master",
                                         "part7-test/old.cu is left over: it has no master"));
  const auto moved = write_starter(starter(), generate_starter(folder_.path() / "solutions"),
                                   folder_.path() / "before");
  EXPECT_THAT(differences(), testing::IsEmpty());
  EXPECT_THAT(moved, ElementsAre("part7-test/old.cu", "part7-test/scale.cu"));
  EXPECT_EQ(read_file(folder_.path() / "before/part7-test/scale.cu"), "edited by hand\n");
  EXPECT_FALSE(std::filesystem::exists(starter() / "part7-test/old.cu"));
  EXPECT_EQ(read_file(starter() / "part7-test/scale.cu"), "todo\n");
}

TEST_F(StarterTest, LeavesPartsAloneThatTheCourseDoesNotHave) {
  write("solutions/part8-test/broken.cu", "// BEGIN SOLUTION\n");
  write("starter/part8-test/mine.cu", "mine");
  const HasPart has_part = has_one_of({7});
  const auto files = generate_starter(folder_.path() / "solutions", has_part);
  write_starter(starter(), files, folder_.path() / "before", has_part);
  EXPECT_EQ(read_file(starter() / "part8-test/mine.cu"), "mine");
  EXPECT_THAT(compare_starter(starter(), files, has_part), testing::IsEmpty());
}

TEST_F(StarterTest, NeedsTheMasters) {
  EXPECT_THROW(generate_starter(folder_.path() / "none"), StarterError);
}

}  // namespace
}  // namespace rooflab
