#include "grader/spec/journal.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::int64_t kNoon = 1'764'504'000;  // 2025-11-30 12:00 UTC

class JournalTest : public testing::Test {
 protected:
  JournalTest() : folder_(testing::TempDir()) {
    TaskSpec task;
    task.id = "gemv";
    task.points = 10;
    part_.tasks = {task};
  }

  static TaskResult result(Verdict verdict, double score) {
    TaskResult task;
    task.id = "gemv";
    task.verdict = verdict;
    task.score = score;
    task.max_score = 10;
    return task;
  }
  static JournalRun run(Verdict verdict, double score = 0) {
    return *journal_run_of(result(verdict, score), kNoon);
  }
  static std::string line(const std::string& fields) { return "run = [{ " + fields + " }]\n"; }

  PartSpec part_;
  TemporaryFolder folder_;
};

TEST_F(JournalTest, IsOffUntilItIsTurnedOn) {
  EXPECT_FALSE(is_journal_on(folder_.path()));
  set_journal(folder_.path(), true);
  EXPECT_TRUE(is_journal_on(folder_.path()));
  set_journal(folder_.path(), false);
  EXPECT_FALSE(is_journal_on(folder_.path()));
  for (const char* unclear : {"keep = 1", "keep = [[[", "", "on = true"}) {
    write_file_atomically(folder_.path() / kJournalSettingFile, unclear);
    EXPECT_FALSE(is_journal_on(folder_.path())) << unclear;
  }
}

TEST_F(JournalTest, ARunSaysWhatCameOfItAndNothingOfTheCode) {
  TaskResult task = result(Verdict::wrong_answer, 3);
  Diagnostic story;
  story.code = "RL0401";
  story.message = "c is wrong in ada_kernel";
  story.file = "part1-test/ada.cu";
  task.diagnostics = {story, story};
  task.printed = "secret";
  task.hints = {.shown = 1, .of = 3, .groups = {{.name = "edges", .shown = 2, .of = 3}}};
  const auto noted = journal_run_of(task, kNoon + 42);
  ASSERT_TRUE(noted);
  EXPECT_EQ(noted->time, kNoon) << "to the minute";
  EXPECT_EQ(noted->hints, 3);
  EXPECT_THAT(noted->codes, SizeIs(1));
  const std::string text = journal_text({{*noted}});
  EXPECT_THAT(text, AllOf(HasSubstr("task = \"gemv\", verdict = \"wrong-answer\", points = 3.0000"),
                          HasSubstr("codes = [\"RL0401\"]"), Not(HasSubstr("ada")),
                          Not(HasSubstr("secret"))));
}

TEST_F(JournalTest, WhatIsNoTryIsNotNoted) {
  for (const Verdict verdict :
       {Verdict::not_implemented, Verdict::not_applicable, Verdict::grader_fault}) {
    EXPECT_FALSE(journal_run_of(result(verdict, 0), kNoon)) << name_of(verdict);
  }
  TaskResult later = result(Verdict::pass, 0);
  later.graded_later = 10;
  EXPECT_FALSE(journal_run_of(later, kNoon)) << "answers that no key judges here";
}

TEST_F(JournalTest, ATaskIsNotedUntilItPasses) {
  Journal journal;
  EXPECT_TRUE(note_run(journal, run(Verdict::race)));
  EXPECT_TRUE(note_run(journal, run(Verdict::pass, 10)));
  EXPECT_FALSE(note_run(journal, run(Verdict::wrong_answer)));
  EXPECT_THAT(journal.runs, SizeIs(2));
}

TEST_F(JournalTest, IsBounded) {
  Journal journal;
  for (std::size_t i = 0; i < 2 * kMostJournalRuns; ++i) note_run(journal, run(Verdict::race));
  EXPECT_THAT(journal.runs, SizeIs(kMostJournalRuns));
  EXPECT_TRUE(is_full(journal));
  EXPECT_THAT(journal_in(journal_text(journal), part_).runs, SizeIs(kMostJournalRuns))
      << "and a full one can be read";
}

TEST_F(JournalTest, ReadsWhatItWrote) {
  Journal journal;
  note_run(journal, run(Verdict::wrong_answer, 3.5));
  note_run(journal, run(Verdict::pass, 10));
  write_journal(folder_.path(), journal);
  const auto read = read_journal(folder_.path(), part_);
  ASSERT_TRUE(read);
  EXPECT_THAT(read->runs,
              ElementsAre(AllOf(Field(&JournalRun::verdict, Verdict::wrong_answer),
                                Field(&JournalRun::score, 3.5), Field(&JournalRun::time, kNoon)),
                          Field(&JournalRun::verdict, Verdict::pass)));
}

TEST_F(JournalTest, ARunThatCannotBeCostsItselfAlone) {
  const std::string good =
      "time = 2026-11-30T12:00:00Z, task = \"gemv\", verdict = \"race\", points = 0.0, of = 10.0, "
      "hints = 0, codes = []";
  ASSERT_THAT(journal_in(line(good), part_).runs, SizeIs(1));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return line(text.replace(text.find(from), from.size(), to));
  };
  for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{
           {"gemv", "other"},
           {"race", "won"},
           {"race", "grader-fault"},
           {"points = 0.0", "points = nan"},
           {"points = 0.0", "points = 11.0"},
           {"of = 10.0", "of = 1e300"},
           {"of = 10.0", "of = -1.0"},
           {"hints = 0", "hints = -1"},
           {"hints = 0", "hints = 9223372036854775807"},
           {"codes = []", "codes = [1]"},
           {"2026-11-30T12:00:00Z", "\"now\""},
           {"2026-11-30T12:00:00Z", "1900-01-01T00:00:00Z"},
           {", hints = 0", ""}}) {
    EXPECT_THAT(journal_in(changed(from, to), part_).runs, IsEmpty()) << to;
  }
  EXPECT_THAT(journal_in("run = [1, {}, [], { " + good + " }]", part_).runs, SizeIs(1));
  EXPECT_THAT(
      journal_in(changed("codes = []", "codes = [\"RL0401\", \"<b>\"]"), part_).runs[0].codes,
      SizeIs(1));
}

TEST_F(JournalTest, AHostileFileHasNoRuns) {
  for (const std::string& text :
       {std::string("run = ") + std::string(20'000, '['), "a" + std::string(9'000, '.') + " = 1",
        std::string("run = 1"), std::string("run = [{"), std::string("\0\xff", 2),
        "# " + std::string(200'000, 'x') + "\nrun = []\n"}) {
    EXPECT_THAT(journal_in(text, part_).runs, IsEmpty()) << text.substr(0, 20);
  }
  std::filesystem::create_symlink("/dev/zero", folder_.path() / kJournalFile);
  EXPECT_FALSE(read_journal(folder_.path(), part_));
  std::filesystem::remove(folder_.path() / kJournalFile);
  ASSERT_EQ(::mkfifo((folder_.path() / kJournalFile).c_str(), 0600), 0);
  EXPECT_FALSE(read_journal(folder_.path(), part_));
}

}  // namespace
}  // namespace rooflab
