#include "grader/cli/cli_fixture.h"

/// The journal that a student may keep, through the program.
namespace rooflab {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class JournalCommandTest : public CliTest {
 protected:
  JournalCommandTest() { write("starter/part7-test/count.cpp", "todo\n"); }

  std::filesystem::path journal() const {
    return folder_.path() / "starter/part7-test/journal.toml";
  }
  void note_a_run() const {
    write("starter/part7-test/journal.toml",
          "run = [{ time = 2026-11-30T12:00:00Z, task = \"count\", verdict = \"wrong-answer\", "
          "points = 0.0, of = 5.0, hints = 1, codes = [\"RL0401\"] }]\n");
  }
};

TEST_F(JournalCommandTest, SaysWhatItIsAndThatItIsOff) {
  const Ran ran = run({"journal"});
  EXPECT_EQ(ran.code, 0) << ran.error;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("The journal is off: nothing is noted."),
                             HasSubstr("no code, no path and no name"), HasSubstr("journal on")));
}

TEST_F(JournalCommandTest, ShowsEveryRunThatIsNoted) {
  note_a_run();
  EXPECT_THAT(
      run({"journal", "on"}).out,
      AllOf(HasSubstr("The journal is on"), HasSubstr("Part 7, 1 run in starter/"),
            HasSubstr("2026-11-30 12:00 UTC  count  wrong answer  0 of 5  1 hint  RL0401")));
}

TEST_F(JournalCommandTest, TurningItOffKeepsTheRunsUnlessTheyAreToGo) {
  note_a_run();
  run({"journal", "on"});
  EXPECT_THAT(run({"journal", "off"}).out, HasSubstr("journal off --delete removes them"));
  EXPECT_TRUE(std::filesystem::exists(journal()));
  EXPECT_THAT(run({"journal", "off", "--delete"}).out, HasSubstr("are removed"));
  EXPECT_FALSE(std::filesystem::exists(journal()));
  EXPECT_THAT(run({"journal"}).out, HasSubstr("The journal is off"));
}

TEST_F(JournalCommandTest, RefusesWhatItCannotDo) {
  expect_refusal({"journal", "on", "--delete"}, 2, "--delete goes with off");
  expect_refusal({"journal", "--submission", "nowhere"}, 2, "there is no folder nowhere");
  expect_refusal({"journal", "perhaps"}, 2, "perhaps");
}

/// Grades the questions of this checkout's own part 1, which builds nothing.
class JournalOfRunsTest : public CliGradeTest {
 protected:
  JournalOfRunsTest() { write("mine/part1-metrics/answers.toml", ""); }

  std::string mine() const { return (folder_.path() / "mine").string(); }
  std::filesystem::path journal() const {
    return folder_.path() / "mine/part1-metrics/journal.toml";
  }
  void turn_on() const { ASSERT_EQ(run({"journal", "on", "--submission", mine()}).code, 0); }
  /// @param answer to one question; all others are right
  Ran answer_and_grade(const std::string& answer) const {
    std::string answers = read_file(ROOFLAB_SOURCE_DIR "/solutions/part1-metrics/answers.toml");
    const std::string right = "gemm_intensity = 283.33\n";
    const std::size_t at = answers.find("\n" + right);
    EXPECT_NE(at, std::string::npos);
    write("mine/part1-metrics/answers.toml",
          answers.replace(at + 1, right.size(), "gemm_intensity = " + answer + "\n"));
    return grade({"--submission", mine()});
  }
};

TEST_F(JournalOfRunsTest, NotesNothingUntilItIsOn) {
  EXPECT_EQ(answer_and_grade("1").code, 1);
  EXPECT_FALSE(std::filesystem::exists(journal()));
}

TEST_F(JournalOfRunsTest, NotesEachChangedTryUntilTheTaskPasses) {
  turn_on();
  for (const char* wrong : {"1", "1", "2"}) EXPECT_EQ(answer_and_grade(wrong).code, 1);
  EXPECT_EQ(answer_and_grade("283.33").code, 0);
  EXPECT_EQ(answer_and_grade("3").code, 1);
  const std::string text = read_file(journal());
  EXPECT_THAT(text, AllOf(HasSubstr("verdict = \"pass\", points = 10.0000"),
                          HasSubstr("codes = [\"RL0408\"]"), Not(HasSubstr("gemm_intensity"))));
  EXPECT_EQ(std::count(text.begin(), text.end(), '{'), 3)
      << "neither the same file again nor what came after the pass:\n"
      << text;
}

TEST_F(JournalOfRunsTest, AGradeIsNotLostWhenItCannotBeNoted) {
  turn_on();
  std::filesystem::create_directories(journal());
  const Ran ran = answer_and_grade("1");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("gemm_intensity"));
  EXPECT_THAT(ran.error, HasSubstr("this run is not in your journal"));
}

}  // namespace
}  // namespace rooflab
