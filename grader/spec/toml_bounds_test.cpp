#include "grader/spec/toml_bounds.h"

#include <gtest/gtest.h>

#include <string>

#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// "a.a.a" of that many parts.
std::string key_of(std::size_t parts) { return "a" + repeated(".a", parts - 1); }

TEST(TomlBoundsTest, TakesWhatFilesOfACourseHold) {
  EXPECT_FALSE(nests_too_deep("[task.ratio]\nvalues = [[1.5, 2.5], [3.5]]\nx = { a.b = 'c' }\n"));
  EXPECT_FALSE(nests_too_deep(key_of(32) + " = 1\n"));
  EXPECT_FALSE(nests_too_deep("x = [" + repeated("1.5, ", 100'000) + "]\n"));
  EXPECT_FALSE(nests_too_deep(repeated("a.b = 1\n", 100'000)));
}

TEST(TomlBoundsTest, TellsTheLineOfAKeyOfTooManyParts) {
  EXPECT_EQ(nests_too_deep("x = 1\n" + key_of(33) + " = 1\n"), 2U);
  EXPECT_EQ(nests_too_deep("\n\n[" + key_of(400'000) + "]\n"), 3U);
  EXPECT_EQ(nests_too_deep("[[" + key_of(40) + "]]\n"), 1U);
  EXPECT_EQ(nests_too_deep("x = { " + key_of(40) + " = 1 }\n"), 1U);
  EXPECT_EQ(nests_too_deep(repeated("\"a\" . 'b' .", 40)), 1U);
}

TEST(TomlBoundsTest, TellsTheLineOfTooManyBrackets) {
  EXPECT_EQ(nests_too_deep("x = " + repeated("[", 400'000)), 1U);
  EXPECT_EQ(nests_too_deep("x = [\n" + repeated("{ a = ", 400'000)), 2U);
  EXPECT_FALSE(nests_too_deep("x = [" + repeated("[],", 100'000) + "]\n"));
}

TEST(TomlBoundsTest, CountsNothingWithinStringsAndComments) {
  const std::string deep = key_of(100) + repeated("[", 100);
  EXPECT_FALSE(nests_too_deep("# " + deep + "\nx = \"" + deep + "\\\"" + deep + "\"\n"));
  EXPECT_FALSE(nests_too_deep("x = '" + deep + "\\'\n"));
  EXPECT_FALSE(nests_too_deep("x = '''\n" + deep + "\n'" + deep + "'''\ny = 1\n"));
  EXPECT_FALSE(nests_too_deep("x = \"\"\"\n" + deep + "\\\"\"\"" + deep + "\"\"\"\n"));
  EXPECT_FALSE(nests_too_deep("x = ''\n"));
}

TEST(TomlBoundsTest, CountsAgainBehindAString) {
  const std::string deep = "\n" + key_of(100) + " = 1\n";
  for (const char* text : {"''", "\"\"", "'a\\'", "\"a\\\\\"", "'''a'''", "'''a''''", "'''a'''''",
                           "\"\"\"a\"\"\"\"\"", "\"\"\"\\\\\"\"\"", "''''''", "1 # '''"}) {
    EXPECT_TRUE(nests_too_deep("x = " + std::string(text) + deep)) << text;
  }
}

TEST(TomlBoundsTest, HoldsForEveryTextThatIsParsed) {
  for (const std::string& text :
       {key_of(400'000) + " = 1\n", "[" + key_of(400'000) + "]\n",
        "x = '''\n'''\n" + key_of(400'000) + " = 1\n", "x = " + repeated("[", 400'000)}) {
    try {
      parse_toml_text(text, "answers.toml");
      FAIL();
    } catch (const SpecError& error) {
      EXPECT_NE(std::string(error.what()).find("nests too deep"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace rooflab
