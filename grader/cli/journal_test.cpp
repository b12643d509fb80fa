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

/// A part whose questions have a key: a grade of it builds nothing.
class JournalOfRunsTest : public JournalCommandTest {
 protected:
  JournalOfRunsTest() {
    write("labs/part7-test/part.toml", R"(number = 7
title = "Test part"
[[task]]
id = "answers"
title = "Questions"
kind = "answers"
file = "answers.toml"
hints = ["a", "b", "c"]
[[task.question]]
id = "peak"
kind = "number"
prompt = "How much?"
points = 2
)");
    write("solutions/part7-test/answers.key.toml", "[peak]\nanswer = 4\nwhy = \"2 + 2\"\n");
  }

  void answer_and_grade(const std::string& answer) const {
    write("starter/part7-test/answers.toml", answer);
    const Ran ran = run({"--part", "7", "--task", "answers", "--device", "sim:a100"});
    ASSERT_LT(ran.code, 2) << ran.error;
  }
};

TEST_F(JournalOfRunsTest, NotesNothingUntilItIsOn) {
  answer_and_grade("peak = 3\n");
  EXPECT_FALSE(std::filesystem::exists(journal()));
}

TEST_F(JournalOfRunsTest, NotesEachChangedTryUntilTheTaskPasses) {
  run({"journal", "on"});
  for (const char* answer :
       {"peak = 3\n", "peak = 3\n", "peak = 5\n", "peak = 4\n", "peak = 6\n"}) {
    answer_and_grade(answer);
  }
  const std::string text = read_file(journal());
  EXPECT_THAT(text, AllOf(HasSubstr("verdict = \"pass\", points = 2.0000"),
                          HasSubstr("codes = [\"RL0408\"]"), Not(HasSubstr("peak"))));
  EXPECT_EQ(std::count(text.begin(), text.end(), '{'), 3)
      << "neither the same file again nor what came after the pass:\n"
      << text;
}

TEST_F(JournalOfRunsTest, AGradeIsNotLostWhenItCannotBeNoted) {
  run({"journal", "on"});
  std::filesystem::create_directories(journal());
  write("starter/part7-test/answers.toml", "peak = 3\n");
  const Ran ran = run({"--part", "7", "--task", "answers", "--device", "sim:a100"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("answers"));
  EXPECT_THAT(ran.error, HasSubstr("this run is not in your journal"));
}

}  // namespace
}  // namespace rooflab
