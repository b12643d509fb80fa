#include "grader/batch/anonymous_code.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace rooflab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Student student(const std::string& key, const std::string& name) {
  Student student;
  student.key = key;
  student.name = name;
  return student;
}

/// Lines joined, the one that is meant behind a ">".
std::string shown(const std::vector<AnonymousLine>& lines) {
  return std::accumulate(lines.begin(), lines.end(), std::string(),
                         [](const std::string& all, const AnonymousLine& line) {
                           return all + (line.is_meant ? ">" : "") + line.text + "\n";
                         });
}

const std::vector<std::string> kPages = {"Use `float`, `out[i]` and `__syncthreads();` here"};

TEST(AnonymousCodeTest, CommentsTextsAndDirectivesAreLeftOut) {
  const WordsToShow words({}, kPages);
  const std::string text =
      "// by Ada\n#define ADA 1\nfloat out; /* mine, Ada */\nprintf(\"Ada was here\");\n";
  EXPECT_EQ(shown(anonymous_lines(text, 3, words)), ">float out;\nname1(\"…\");\n");
}

TEST(AnonymousCodeTest, WordsThatThreeSubmissionsHaveStay) {
  WordsToShow words({}, {});
  for (int i = 0; i < 3; ++i) {
    words.add({{"a.cu", fmt::format("tile own{} 123456 65432{}", i, i)}});
  }
  EXPECT_EQ(shown(anonymous_lines("tile own1 123456 654321 1815\n", 1, words)),
            ">tile name1 123456 N 1815\n");
}

TEST(AnonymousCodeTest, OneWordHasOneNameInAnExample) {
  EXPECT_EQ(shown(anonymous_lines("a = b;\nb = a;\n", 2, WordsToShow({}, {}))),
            "name1 = name2;\n>name2 = name1;\n");
}

TEST(AnonymousCodeTest, APieceOfAStudentsNameIsShownOnlyWhereOthersHaveIt) {
  const std::vector<std::string> pages = {"float ada_tile lovelaceSum gridDim"};
  WordsToShow words({student("s1815", "Ada Lovelace")}, pages);
  const std::string text = "float ada_tile, lovelaceSum, gridDim;\n";
  EXPECT_EQ(shown(anonymous_lines(text, 1, words)), ">float name1, name2, gridDim;\n");
  for (int i = 0; i < 3; ++i) words.add({{"a.cu", text}});
  EXPECT_EQ(shown(anonymous_lines(text, 1, words)), ">float ada_tile, lovelaceSum, gridDim;\n");
}

TEST(AnonymousCodeTest, StudentsCannotAgreeToNameAClassmate) {
  WordsToShow words({student("s1815", "Ada Lovelace")}, {"float"});
  const std::string text = "float Lovelace_copied;\n";
  for (int i = 0; i < 3; ++i) words.add({{"a.cu", text}});
  EXPECT_EQ(shown(anonymous_lines(text, 1, words)), ">float name1;\n");
}

TEST(AnonymousCodeTest, ShowsAFewLinesWithTheirIndentOfEachOther) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += i % 2 == 0 ? "    if (1)\n" : "      x;\n";
  EXPECT_THAT(anonymous_lines(text, 10, WordsToShow({}, {})), SizeIs(7));
  EXPECT_THAT(shown(anonymous_lines(text, 10, WordsToShow({}, {}))),
              HasSubstr("name1 (1)\n>  name2;\n"));
}

TEST(AnonymousCodeTest, ALineWithoutCodeIsNoExample) {
  for (const std::uint32_t line : {0U, 2U, 9U, 4'000'000'000U}) {
    EXPECT_THAT(anonymous_lines("a;\n// b\nc;\n", line, WordsToShow({}, {})), IsEmpty()) << line;
  }
}

TEST(AnonymousCodeTest, HostileTextIsBoundedAndHarmless) {
  const std::string long_line(100'000, 'x');
  const WordsToShow words({}, {});
  for (const std::string& text : {long_line + " = 1;\n", std::string("\xff\xfe\xe2\x80\xae = 1;\n"),
                                  std::string("\"open\n1\n"), std::string("R\"(open\n1\n"),
                                  std::string(5'000, '('), std::string("a\0b\n", 4)}) {
    for (const AnonymousLine& line : anonymous_lines(text, 1, words)) {
      EXPECT_LT(line.text.size(), 200U);
      EXPECT_THAT(line.text, AllOf(Not(HasSubstr("\xff")), Not(HasSubstr("\xe2\x80\xae"))));
    }
  }
}

}  // namespace
}  // namespace rooflab
