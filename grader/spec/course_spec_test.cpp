#include "grader/spec/course_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace rooflab {
namespace {

class CourseSpecTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  CourseSpec load(const std::string& text) {
    std::ofstream(folder_ / "course.toml") << text;
    return load_course_spec(folder_);
  }
  std::string complaint_about(const std::string& text) {
    try {
      load(text);
    } catch (const SpecError& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "course_spec_test";
};

TEST_F(CourseSpecTest, GivesWhatTheFileSays) {
  const CourseSpec course =
      load("title = 'Ours'\ngpus = ['b', 'a']\n[hints]\ncost = 0.1\non_honour = true\n");
  EXPECT_EQ(course.title, "Ours");
  EXPECT_THAT(course.gpus, testing::ElementsAre("b", "a"));
  EXPECT_EQ(course.hint_cost, 0.1);
}

TEST_F(CourseSpecTest, HintsAreFreeUnlessItSaysOtherwise) {
  EXPECT_EQ(load("title = 'Ours'\ngpus = ['a']\n").hint_cost, 0);
}

TEST_F(CourseSpecTest, RefusesACourseWithoutGpusOrWithOneTwice) {
  EXPECT_THAT(complaint_about("title = 'Ours'\ngpus = []\n"), testing::HasSubstr("course.toml:2"));
  EXPECT_THAT(complaint_about("title = 'Ours'\ngpus = ['a', 'a']\n"),
              testing::HasSubstr("each once"));
}

TEST_F(CourseSpecTest, RefusesACostThatIsNoShare) {
  for (const char* cost : {"-0.1", "1.5", "nan"}) {
    EXPECT_THAT(complaint_about(std::string("title = 'O'\ngpus = ['a']\n[hints]\ncost = ") + cost),
                testing::HasSubstr("from 0 to 1"))
        << cost;
  }
}

// The count of hints is a student's own file.
TEST_F(CourseSpecTest, RefusesAPriceOfHintsThatNobodyCanEnforce) {
  const std::string course = "title = 'O'\ngpus = ['a']\n[hints]\n";
  EXPECT_THAT(complaint_about(course + "cost = 0.1\n"), testing::HasSubstr("course.toml:4"));
  EXPECT_THAT(complaint_about(course + "cost = 0.1\n"), testing::HasSubstr("on_honour = true"));
  EXPECT_THAT(complaint_about(course + "cost = 0.1\non_honour = false\n"),
              testing::HasSubstr("no price can be enforced"));
  EXPECT_EQ(load(course + "cost = 0\n").hint_cost, 0);
  EXPECT_EQ(load(course + "cost = 0\non_honour = true\n").hint_cost, 0);
}

TEST_F(CourseSpecTest, MayNameTheDeviceThatIsGradedOn) {
  EXPECT_EQ(load("title = 'O'\ngpus = ['a']\n").device, "auto");
  for (const char* device : {"auto", "cuda", "cuda:1", "sim", "sim:b"}) {
    EXPECT_EQ(
        load(std::string("title = 'O'\ngpus = ['a', 'b']\ndevice = '") + device + "'\n").device,
        device);
  }
  for (const char* device : {"", "gpu", "cuda:", "cuda:x", "sim:", "sim:c"}) {
    EXPECT_THAT(
        complaint_about(std::string("title = 'O'\ngpus = ['a', 'b']\ndevice = '") + device + "'\n"),
        testing::HasSubstr("is no device of the course; write auto, cuda"))
        << device;
  }
}

TEST_F(CourseSpecTest, SaysHowManyVersionsOfAWorkLogAreGradedAgain) {
  const std::string course = "title = 'O'\ngpus = ['a']\n";
  EXPECT_EQ(load(course).versions_graded_again, 0);
  EXPECT_EQ(load(course + "[work_log]\ngrade_again = 3\n").versions_graded_again, 3);
  for (const char* value : {"-1", "13"}) {
    EXPECT_THAT(complaint_about(course + "[work_log]\ngrade_again = " + value + "\n"),
                testing::HasSubstr("write a number from 0 to 12"));
  }
}

TEST_F(CourseSpecTest, WithoutAFileNothingIsChosen) {
  EXPECT_TRUE(course_spec_or_none(folder_ / "nowhere").gpus.empty());
}

TEST_F(CourseSpecTest, NamesAKeyThatNobodyKnows) {
  EXPECT_THAT(complaint_about("title = 'O'\ngpus = ['a']\nhints_cost = 1\n"),
              testing::HasSubstr("hints_cost"));
}

TEST_F(CourseSpecTest, TheCourseHereCanBeRead) {
  EXPECT_FALSE(load_course_spec(ROOFLAB_SOURCE_DIR "/labs").gpus.empty());
}

}  // namespace
}  // namespace rooflab
