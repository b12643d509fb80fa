#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "grader/batch/intake/submission.h"
#include "grader/cli/cli_fixture.h"
#include "grader/spec/handed_out.h"
#include "grader/spec/part.h"

namespace rooflab {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

/// A kit with two parts, and a student who has begun one of them.
class HandInTest : public CliTest {
 protected:
  HandInTest() {
    const std::string second = read_file(folder_.path() / "labs/part7-test/part.toml");
    write("labs/part8-other/part.toml", "number = 8" + second.substr(second.find('\n')));
    write("labs/part7-test/part.toml", second + R"([[task]]
id = "answers"
title = "Questions"
kind = "answers"
file = "answers.toml"
points = 3
hints = ["a", "b", "c"]
[[task.question]]
id = "peak"
kind = "number"
prompt = "How much?"
points = 2
[[task.question]]
id = "why"
kind = "choice"
prompt = "Why?"
choices = ["a", "b"]
points = 1
)");
    for (const char* top : {"originals/starter", "starter"}) {
      write(std::string(top) + "/part7-test/count.cpp", "todo\n");
      write(std::string(top) + "/part7-test/answers.toml", "peak = \"\"\nwhy = \"\"\n");
      write(std::string(top) + "/part8-other/count.cpp", "todo\n");
    }
    write("labs/course.toml", "title = 'T'\ngpus = ['a100']\n");
  }

  std::filesystem::path archive() const { return folder_.path() / "out/hand-in-part7.tar.gz"; }

  /// The archive as a batch takes it in.
  Submission taken() const {
    const std::filesystem::path submissions = folder_.path() / "class";
    std::filesystem::create_directories(submissions);
    std::filesystem::copy_file(archive(), submissions / "ada.tar.gz");
    const PartSpec part = load_part(folder_.path() / "labs", folder_.path(), 7);
    IntakeOptions options{.wanted = {}, .unpacker = ROOFLAB_BINARY_DIR "/bin/rooflab-unpack"};
    for (const std::string& file : files_to_hand_in(part)) {
      options.wanted.push_back(part.directory + "/" + file);
    }
    const auto entries = list_submissions(submissions);
    EXPECT_EQ(entries.size(), 1U);
    return take_in(entries.at(0), options);
  }
};

TEST_F(HandInTest, PacksWhatABatchTakes) {
  write("starter/part7-test/count.cpp", "mine\n");
  write("starter/part7-test/answers.toml", "peak = 4\nwhy = \"\"\n");
  write("starter/part7-test/hints_used.toml", "count = 1\n");
  write("starter/part7-test/notes.txt", "not asked for\n");
  write("starter/student.toml", "id = \"1815\"\nname = \"Ada\"\n");
  const Ran ran = run({"hand-in", "--part", "7"});
  EXPECT_EQ(ran.code, 0) << ran.error;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("Part 7, Test part\n"), HasSubstr("1 of 2 questions answered"),
                    HasSubstr("left out: part7-test/notes.txt"),
                    HasSubstr("out/hand-in-part7.tar.gz: 4 files, ")));
  const Submission ada = taken();
  EXPECT_EQ(ada.problem, "");
  EXPECT_THAT(ada.doubts, IsEmpty());
  EXPECT_THAT(ada.files,
              UnorderedElementsAre(Pair("part7-test/count.cpp", "mine\n"),
                                   Pair("part7-test/answers.toml", "peak = 4\nwhy = \"\"\n"),
                                   Pair("part7-test/hints_used.toml", "count = 1\n")));
  EXPECT_EQ(ada.hints.sis_id, "1815");
  EXPECT_TRUE(ada.received_at.has_value()) << "the newest file's time";
}

TEST_F(HandInTest, SaysWhatIsStillAsItWasHandedOut) {
  write("starter/part7-test/answers.toml", "peak = 4\nwhy = \"b\"\n");
  const Ran ran = run({"hand-in"});
  EXPECT_EQ(ran.code, 0) << ran.error;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("  as handed out\n"), HasSubstr("  not begun: count\n"),
                             HasSubstr("2 of 2 questions answered")))
      << "without --part the one that is begun";
}

TEST_F(HandInTest, AsksWhichPartIsMeant) {
  expect_refusal({"hand-in"}, 2, "no part differs from how it was handed out; name the part");
  write("starter/part7-test/count.cpp", "mine\n");
  write("starter/part8-other/count.cpp", "mine\n");
  expect_refusal({"hand-in"}, 2, "parts 7, 8 are begun; name the part that you hand in");
  expect_refusal({"hand-in", "--part", "9"}, 2, "there is no part 9; the parts are 7, 8");
  expect_refusal({"hand-in", "--part", "7", "--output", "a.zip"}, 2, "let it end with .tar.gz");
  expect_refusal({"hand-in", "--part", "7", "--submission", "nowhere"}, 2, "there is no folder");
}

TEST_F(HandInTest, RefusesWhatABatchWouldNotTakeAndLeavesNothing) {
  const auto file = folder_.path() / "starter/part7-test/count.cpp";
  const auto refusal = [&] {
    const Ran ran = run({"hand-in", "--part", "7"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.out, HasSubstr("out/hand-in-part7.tar.gz was not written"));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out"));
    return ran.out;
  };
  write("starter/part7-test/count.cpp", std::string(2 << 20, 'x'));
  EXPECT_THAT(refusal(), HasSubstr("part7-test/count.cpp: it is larger than 1 MiB; put a plain"));
  write("starter/part7-test/count.cpp", std::string("a\0b", 3));
  EXPECT_THAT(refusal(), HasSubstr("it is not text in UTF-8"));
  std::filesystem::remove(file);
  EXPECT_THAT(refusal(), HasSubstr("part7-test/count.cpp is missing; copy it from "
                                   "originals/starter/part7-test/count.cpp"));
  std::filesystem::create_symlink("/etc/passwd", file);
  EXPECT_THAT(refusal(), HasSubstr("it is a symbolic link"));
  std::filesystem::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("it is no regular file"));
}

TEST_F(HandInTest, PacksTheJournalOnlyWhereItIsOnAndNotAskedToLeaveItOut) {
  write("starter/part7-test/count.cpp", "mine\n");
  write("starter/part7-test/journal.toml",
        "# in Ada's own words\nrun = [{ time = 2026-11-30T12:00:00Z, task = \"count\", verdict = "
        "\"wrong-answer\", points = 0.0, of = 5.0, hints = 1, codes = [\"RL0401\"] }]\n");
  const Ran off = run({"hand-in", "--part", "7"});
  EXPECT_THAT(off.out, HasSubstr("journal.toml is not packed: you do not share it"));
  EXPECT_EQ(run({"journal", "on"}).code, 0);
  EXPECT_THAT(run({"hand-in", "--part", "7", "--no-journal"}).out,
              HasSubstr("journal.toml is not packed"));
  const Ran on = run({"hand-in", "--part", "7"});
  EXPECT_THAT(on.out, AllOf(HasSubstr("part7-test/journal.toml"),
                            HasSubstr("1 of your runs; grader journal shows them")));
  const std::string journal = taken().files.at("part7-test/journal.toml");
  EXPECT_THAT(journal, AllOf(HasSubstr("codes = [\"RL0401\"]"), Not(HasSubstr("Ada"))))
      << "what is shared is what is shown";
}

TEST_F(HandInTest, ShowsNamesAsTextAndAnswersThatCannotBeRead) {
  write("starter/part7-test/count.cpp", "mine\n");
  write("starter/part7-test/\x1B[31m\nx", "");
  write("starter/part7-test/answers.toml", "peak = 59 %\nwhy = \"b\"\n");
  const Ran ran = run({"hand-in", "--part", "7"});
  EXPECT_EQ(ran.code, 0) << ran.error;
  EXPECT_THAT(ran.out, AllOf(Not(HasSubstr("\x1B")), HasSubstr("part7-test/answers.toml:1: ")));
}

TEST_F(HandInTest, AnOlderArchiveStaysUntilTheNewOneIsWhole) {
  write("out/hand-in-part7.tar.gz", "older");
  std::filesystem::remove(folder_.path() / "starter/part7-test/count.cpp");
  EXPECT_EQ(run({"hand-in", "--part", "7"}).code, 1);
  EXPECT_EQ(read_file(archive()), "older");
  write("starter/part7-test/count.cpp", "mine\n");
  EXPECT_EQ(run({"hand-in", "--part", "7"}).code, 0);
  EXPECT_NE(read_file(archive()), "older");
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(folder_.path() / "out")) {
    ++files;
  }
  EXPECT_EQ(files, 1U) << "nothing temporary stays";
}

TEST_F(HandInTest, SaysWhenItIsDueAndHowItIsHandedIn) {
  write("labs/course.toml",
        "title = 'T'\ngpus = ['a100']\n[calendar.part7]\ndue = 2021-02-15T23:59:00+01:00\n"
        "[calendar.part8]\ndue = 2921-02-15T23:59:00+01:00\n"
        "[hand_in]\ninstructions = 'To the assignment of the part on Canvas.'\n");
  const Ran ran = run({"hand-in", "--part", "8", "--part", "7", "--output", "both.tgz"});
  EXPECT_EQ(ran.code, 0) << ran.error;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("Part 7, Test part, which was due 2021-02-15 23:59 +01:00\n"),
                    HasSubstr("Part 8, Test part, due 2921-02-15 23:59 +01:00\n"),
                    HasSubstr("both.tgz: 3 files"),
                    HasSubstr("Hand it in: To the assignment of the part on Canvas.\n")));
}

}  // namespace
}  // namespace rooflab
