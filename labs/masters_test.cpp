// Proves of every part that its solution is worth all points, and its starter none.
#include <gtest/gtest.h>

#include "labs/grade_submission.h"

namespace rooflab {
namespace {

/// The solution must not only reach full marks, but leave room for students' ways of writing it.
constexpr double kSpeedMargin = 1.25;

class MastersTest : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(MastersTest, SolutionEarnsAllPointsAndAllOfTheBonus) {
  const Grade result = grade(number_of(GetParam()), ROOFLAB_SOURCE_DIR "/solutions");
  EXPECT_EQ(result.exit_code, 0);
  ASSERT_FALSE(result.document.is_null());
  for (const auto& task : result.document.at("tasks")) {
    EXPECT_EQ(task.at("verdict"), "pass") << task.dump(2);
    EXPECT_EQ(task.at("score"), task.at("max_score")) << task.dump(2);
    if (!task.contains("timings")) continue;
    for (const auto& timing : task.at("timings")) {
      EXPECT_GE(timing.at("efficiency"),
                kSpeedMargin * timing.at("target_efficiency").get<double>())
          << task.at("id") << ": " << timing.at("name");
    }
  }
  EXPECT_EQ(result.document.at("score"), result.document.at("max_score"));
}

TEST_P(MastersTest, StarterBuildsAndEarnsNothing) {
  const Grade result = grade(number_of(GetParam()), ROOFLAB_SOURCE_DIR "/starter");
  EXPECT_EQ(result.exit_code, 1);
  ASSERT_FALSE(result.document.is_null());
  for (const auto& task : result.document.at("tasks")) {
    EXPECT_EQ(task.at("verdict"), "not-implemented") << task.dump(2);
    EXPECT_FALSE(task.at("diagnostics").empty()) << task.at("id") << " says not what to do";
  }
  EXPECT_EQ(result.document.at("score"), 0);
  EXPECT_EQ(result.document.at("bonus"), 0);
}

INSTANTIATE_TEST_SUITE_P(Labs, MastersTest, testing::ValuesIn(parts()), [](const auto& part) {
  std::string name = part.param.filename().string();
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
});

TEST(StarterTest, IsWhatTheSolutionsStripTo) {
  EXPECT_EQ(run_grader({"starter", "--check"}), 0) << "run build/bin/grader starter --write";
}

}  // namespace
}  // namespace rooflab
