#include "grader/spec/course_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace rooflab {
namespace {

class CourseSpecTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
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

  /// A part of this number in the course's folder.
  void have_part(int number) {
    const auto folder = folder_ / ("part" + std::to_string(number) + "-x");
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "part.toml") << "number = " << number << '\n';
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

TEST_F(CourseSpecTest, TakesThePartsThatAreListed) {
  const std::string course = "title = 'O'\ngpus = ['a']\n";
  for (const int number : {0, 1, 3, 12}) have_part(number);
  EXPECT_EQ(load(course).parts, std::nullopt);
  EXPECT_THAT(list_parts(folder_), testing::ElementsAre(0, 1, 3, 12));
  EXPECT_THAT(*load(course + "parts = [12, 0,\n 3]\n").parts, testing::ElementsAre(0, 3, 12));
  EXPECT_THAT(list_parts(folder_), testing::ElementsAre(0, 3, 12));
}

TEST_F(CourseSpecTest, RefusesPartsThatAreNone) {
  const std::string course = "title = 'O'\ngpus = ['a']\n";
  have_part(1);
  have_part(4);
  for (const auto& [parts, words] : std::vector<std::pair<std::string, std::string>>{
           {"[1, 2]", "course.toml:3: there is no part 2; labs/ has the parts 1, 4"},
           {"[-1]", "there is no part -1"},
           {"[99999999999]", "there is no part 99999999999"},
           {"[4, 1, 4]", "course.toml:3: part 4 stands there twice; list each part once"},
           {"[]", "the course lists no part"},
           {"['1']", "an array of integers"},
           {"1", "an array of integers"}}) {
    EXPECT_THAT(complaint_about(course + "parts = " + parts + "\n"), testing::HasSubstr(words))
        << parts;
  }
}

TEST_F(CourseSpecTest, APartThatIsNotListedDoesNotExist) {
  have_part(1);
  have_part(2);
  std::ofstream(folder_ / "part2-x/part.toml", std::ios::app) << "broken";
  load("title = 'O'\ngpus = ['a']\nparts = [1]\n");
  EXPECT_THAT(list_parts(folder_), testing::ElementsAre(1));
  try {
    load_part(folder_, folder_, 2);
    FAIL();
  } catch (const UnknownPart& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("there is no part 2; the parts are 1"));
  }
}

TEST_F(CourseSpecTest, HasACalendar) {
  have_part(1);
  have_part(2);
  const CourseSpec course = load(
      "title = 'O'\ngpus = ['a']\n[calendar.part1]\nopens = 2027-02-01T08:00:00+01:00\n"
      "due = 2027-02-15T23:59:00+01:00\n[calendar.part2]\ndue = 2027-03-01T00:00:00Z\n");
  const PartDates first = dates_of(course, 1);
  ASSERT_TRUE(first.opens && first.due);
  EXPECT_EQ(first.opens->seconds, 1801465200);
  EXPECT_FALSE(first.is_open(1801465199));
  EXPECT_TRUE(first.is_open(1801465200));
  EXPECT_EQ(dates_in_words(first, 0), "opens 2027-02-01 08:00 +01:00, due 2027-02-15 23:59 +01:00");
  EXPECT_EQ(dates_in_words(first, 1801465200), "due 2027-02-15 23:59 +01:00");
  EXPECT_EQ(dates_in_words(dates_of(course, 2), 0), "due 2027-03-01 00:00 UTC");
  EXPECT_EQ(dates_in_words(dates_of(course, 3), 0), "");
}

TEST_F(CourseSpecTest, RefusesACalendarThatCannotBeMeant) {
  have_part(1);
  const std::string course = "title = 'O'\ngpus = ['a']\n";
  for (const auto& [calendar, words] : std::vector<std::pair<std::string, std::string>>{
           {"[calendar.part1]\nopens = 2027-02-15T08:00:00Z\ndue = 2027-02-14T08:00:00Z",
            "course.toml:5: [calendar.part1] is due before it opens"},
           {"[calendar.part2]\ndue = 2027-02-14T08:00:00Z",
            "course.toml:3: [calendar.part2] is no part of the course; write [calendar.part1]"},
           {"[calendar.1]\ndue = 2027-02-14T08:00:00Z", "[calendar.1] is no part"},
           {"[calendar]\npart1 = 2027-02-14T08:00:00Z", "[calendar.part1] is no part"},
           {"[calendar.part1]", "has no date"},
           {"[calendar.part1]\ndue = 2027-02-14T08:00:00", "names no time zone"},
           {"[calendar.part1]\ndue = '2027-02-14'", "a date, a time and a zone"},
           {"[calendar.part1]\nclosed = 2027-02-14T08:00:00Z", "closed"},
           {"[calendar.part1]\ndue = 2027-02-14T08:00:00Z\n[calendar.part01]\ndue = "
            "2027-02-14T08:00:00Z",
            "part 1 has dates already"}}) {
    EXPECT_THAT(complaint_about(course + calendar + "\n"), testing::HasSubstr(words)) << calendar;
  }
}

TEST_F(CourseSpecTest, ReadsAMomentOnACommandLine) {
  EXPECT_EQ(text_of(moment_of("2027-02-15T23:59:00-03:30", "--at")), "2027-02-15 23:59 -03:30");
  for (const char* text : {"2027-02-15T23:59:07-03:30", "1969-12-31T00:00:00+14:00"}) {
    EXPECT_EQ(toml_text_of(moment_of(text, "--at")), text);
  }
  for (const char* text : {"", "2027-02-15", "tomorrow", "2027-02-15T23:59:00", "1\nx = 2"}) {
    EXPECT_THROW(moment_of(text, "--at"), SpecError) << text;
  }
}

TEST_F(CourseSpecTest, SaysHowToHandIn) {
  const std::string course = "title = 'O'\ngpus = ['a']\n";
  EXPECT_EQ(load(course + "[hand_in]\ninstructions = 'To Canvas.'\n").hand_in, "To Canvas.");
  EXPECT_THAT(complaint_about(course + "[hand_in]\n"), testing::HasSubstr("instructions"));
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
