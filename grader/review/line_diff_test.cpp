#include "grader/review/line_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace rooflab {
namespace {

using testing::ElementsAre;

std::string joined(const std::vector<DiffLine>& lines, LineOrigin without) {
  std::string text;
  for (const DiffLine& line : lines) {
    if (line.origin != without) text += std::string(line.text) + "\n";
  }
  return text;
}

std::string starter_of(const std::vector<DiffLine>& lines) {
  return joined(lines, LineOrigin::submission);
}
std::string submission_of(const std::vector<DiffLine>& lines) {
  return joined(lines, LineOrigin::starter);
}

/// How many lines two texts have in common in order, by the table that everybody knows.
std::size_t longest_common(const std::vector<std::string_view>& one,
                           const std::vector<std::string_view>& other) {
  std::vector<std::vector<std::size_t>> best(one.size() + 1,
                                             std::vector<std::size_t>(other.size() + 1, 0));
  for (std::size_t i = 0; i < one.size(); ++i) {
    for (std::size_t j = 0; j < other.size(); ++j) {
      best[i + 1][j + 1] =
          one[i] == other[j] ? best[i][j] + 1 : std::max(best[i][j + 1], best[i + 1][j]);
    }
  }
  return best[one.size()][other.size()];
}

TEST(LineDiff, TellsWhatWasWrittenAndWhatWasTakenOut) {
  EXPECT_THAT(
      diff_lines("a\n// TODO\nb\n", "a\nmine\nb\nc\n"),
      ElementsAre(DiffLine{LineOrigin::both, 1, "a"}, DiffLine{LineOrigin::starter, 0, "// TODO"},
                  DiffLine{LineOrigin::submission, 2, "mine"}, DiffLine{LineOrigin::both, 3, "b"},
                  DiffLine{LineOrigin::submission, 4, "c"}));
}

TEST(LineDiff, OfAnEmptyTextIsAllOfTheOther) {
  EXPECT_THAT(diff_lines("", "x\n"), ElementsAre(DiffLine{LineOrigin::submission, 1, "x"}));
  EXPECT_THAT(diff_lines("x", ""), ElementsAre(DiffLine{LineOrigin::starter, 0, "x"}));
  EXPECT_TRUE(diff_lines("", "").empty());
}

TEST(LineDiff, LooksPastLineEndsOfWindows) {
  EXPECT_THAT(diff_lines("a\nb\n", "a\r\nb"),
              ElementsAre(DiffLine{LineOrigin::both, 1, "a"}, DiffLine{LineOrigin::both, 2, "b"}));
}

TEST(LineDiff, HoldsBothTextsAndAsFewDifferencesAsThereCanBe) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const auto text = [&] {
      std::string lines;
      for (std::size_t i = random() % 12; i > 0; --i) {
        lines += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
      }
      return lines;
    };
    const std::string starter = text(), submission = text();
    const std::vector<DiffLine> lines = diff_lines(starter, submission);
    ASSERT_EQ(starter_of(lines), starter);
    ASSERT_EQ(submission_of(lines), submission);
    ASSERT_EQ(
        static_cast<std::size_t>(std::ranges::count(lines, LineOrigin::both, &DiffLine::origin)),
        longest_common(lines_of(starter), lines_of(submission)))
        << starter << "--\n"
        << submission;
  }
}

TEST(LineDiff, OfTextsThatHaveNothingInCommonIsBounded) {
  std::string starter, submission;
  for (int i = 0; i < 20'000; ++i) {
    starter += "old " + std::to_string(i) + "\n";
    submission += "new " + std::to_string(i) + "\n";
  }
  const std::vector<DiffLine> lines = diff_lines(starter, submission);
  EXPECT_EQ(lines.size(), 40'000U);
  EXPECT_EQ(submission_of(lines), submission);
}

}  // namespace
}  // namespace rooflab
