// Proves of a part that its solution is worth all points (solution.<part>) and its starter none
// (starter.<part>).
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <utility>

#include "labs/grade_submission.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

/// The solution must not only reach full marks, but leave room for students' ways of writing it.
constexpr double kSpeedMargin = 1.25;

void expect_that_the_solution_earns_all_points_and_all_of_the_bonus(const fs::path& part) {
  const Grade result = grade(number_of(part), ROOFLAB_SOURCE_DIR "/solutions");
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

void expect_that_the_starter_builds_and_earns_nothing(const fs::path& part) {
  const Grade result = grade(number_of(part), ROOFLAB_SOURCE_DIR "/starter");
  EXPECT_EQ(result.exit_code, 1);
  ASSERT_FALSE(result.document.is_null());
  for (const auto& task : result.document.at("tasks")) {
    EXPECT_EQ(task.at("verdict"), "not-implemented") << task.dump(2);
    EXPECT_FALSE(task.at("diagnostics").empty()) << task.at("id") << " says not what to do";
  }
  EXPECT_EQ(result.document.at("score"), 0);
  EXPECT_EQ(result.document.at("bonus"), 0);
}

class NamedTest : public testing::Test {
 public:
  explicit NamedTest(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

void register_test(const char* suite, const std::string& name, std::function<void()> body) {
  testing::RegisterTest(suite, name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [body = std::move(body)] { return new NamedTest(body); });
}

void register_masters() {
  for (const fs::path& part : parts()) {
    std::string name = part.filename().string();
    std::ranges::replace(name, '-', '_');  // in a filter, "-" begins what is left out
    register_test("solution", name,
                  [part] { expect_that_the_solution_earns_all_points_and_all_of_the_bonus(part); });
    register_test("starter", name,
                  [part] { expect_that_the_starter_builds_and_earns_nothing(part); });
  }
}

}  // namespace
}  // namespace rooflab

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  rooflab::register_masters();
  const int failed = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() > 0) return failed;
  std::cerr << "no part has this name\n";  // a filter that matches nothing must not pass
  return 1;
}
