#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "grader/cli/cli_fixture.h"
#include "grader/spec/files.h"
#include "grader/spec/part.h"

/// What a student meets first, and from run to run: the welcome, the last run, --watch.
namespace rooflab {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(CliTest, AloneSaysWhereOneIsAndWhatIsNext) {
  write("labs/course.toml", "title = 'A course'\ngpus = ['a100']\n");
  write("starter/part7-test/count.cpp",
        "// so far\n  rooflab::todo(\"count the squares first\");\n");
  const Ran ran = run({});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.error, IsEmpty());
  EXPECT_THAT(ran.out, HasSubstr("A course\n"));
  EXPECT_THAT(ran.out, HasSubstr("  submission  starter\n"));
  EXPECT_THAT(ran.out, HasSubstr("  device      "));
  EXPECT_THAT(ran.out, HasSubstr("  part 7  Test part              1 task, none graded yet\n"));
  EXPECT_THAT(ran.out, HasSubstr("Next: part 7, task count\n  starter/part7-test/count.cpp:2: its "
                                 "TODO says: count the squares first\n"));
  EXPECT_THAT(ran.out, HasSubstr("  then  " + typed_program() + " --part 7 --task count\n"));
}

TEST_F(CliTest, AloneAsksToGradeWhatIsWritten) {
  write("starter/part7-test/count.cpp", "int count() { return 9; }\n");
  EXPECT_THAT(run({}).out, HasSubstr("it is written, and was never graded\n  run   "));
}

TEST_F(CliTest, APartMayHaveTheNumber0AndComesFirst) {
  std::string part = read_file(folder_.path() / "labs/part7-test/part.toml");
  part.replace(part.find("points = 5"), 0, "starter_finds = \"RL0201\"\n");
  write("labs/part0-test/part.toml", "number = 0" + part.substr(part.find('\n')));
  for (const char* folder : {"part0-test", "part7-test"}) {
    write("starter/" + std::string(folder) + "/count.cpp", "int count() { return 9; }\n");
  }
  EXPECT_THAT(run({}).out, HasSubstr("  part 0  Test part "));
  EXPECT_THAT(run({}).out, HasSubstr("Next: part 0, task count\n  starter/part0-test/count.cpp: as "
                                     "handed out it is wrong on purpose: run it, read what is"));
  EXPECT_THAT(run({}).out, HasSubstr(" --part 0 --task count\n"));
  EXPECT_THAT(run({"list"}).out, HasSubstr("Part 0  Test part"));
  EXPECT_THAT(run({"--part", "0", "--list"}).out, HasSubstr("Part 0, Test part\n\n  count"));
  EXPECT_THAT(run({"--part", "0", "--task", "count", "--hint"}).out,
              HasSubstr("count, hint 1 of 3: first\nhint 2 suggests an approach: " +
                        typed_program() + " --part 0 --task count --hint"));
}

TEST_F(CliTest, ATodoThatIsCommentedOutIsNone) {
  write("starter/part7-test/count.cpp",
        "// STARTER: rooflab::todo(\"count the squares first\");\nint count() { return 9; }\n");
  EXPECT_THAT(run({}).out, HasSubstr("it is written, and was never graded"));
}

TEST_F(CliTest, AloneIsFriendlyWhereThereIsNothing) {
  const Ran without_starter = run({});
  EXPECT_EQ(without_starter.code, 0);
  EXPECT_THAT(without_starter.out, HasSubstr("which is not there; name another with --submission"));
  EXPECT_THAT(without_starter.out, HasSubstr("copy it from the course's kit"));
  environment_["ROOFLAB_NVCC"] = "/nowhere/nvcc";
  EXPECT_THAT(run({}).out, HasSubstr("none yet: ROOFLAB_NVCC names /nowhere/nvcc"));
  environment_["ROOFLAB_ROOT"] = folder_.path() / "nowhere";
  const Ran lost = run({});
  EXPECT_EQ(lost.code, 0);
  EXPECT_THAT(lost.out, HasSubstr("has no folder labs/; run the grader from its checkout"));
}

TEST(CourseTest, EveryFirstHintIsAQuestion) {
  const std::filesystem::path labs = ROOFLAB_SOURCE_DIR "/labs";
  for (const int number : list_parts(labs)) {
    for (const TaskSpec& task : load_part(labs, labs / "no solutions", number).tasks) {
      EXPECT_THAT(task.hints.at(0), HasSubstr("?")) << "part " << number << ", " << task.id;
      for (const GroupSpec& group : task.groups) {
        if (group.hints.empty()) continue;
        EXPECT_THAT(group.hints.at(0), HasSubstr("?")) << task.id << ", " << group.name;
      }
    }
  }
}

/// With a submission of one's own.
class FirstContactTest : public CliGradeTest {
 protected:
  FirstContactTest() {
    std::filesystem::create_directories(folder_.path() / "mine");
    std::filesystem::copy(ROOFLAB_SOURCE_DIR "/starter/part1-metrics",
                          folder_.path() / "mine/part1-metrics",
                          std::filesystem::copy_options::recursive);
  }

  std::string answers() const { return folder_.path() / "mine/part1-metrics/answers.toml"; }

  /// Answers one question, rightly or not; the rest stays open.
  void answer(const std::string& question, const std::string& value) const {
    std::string text = read_file(answers());
    const std::size_t line = text.find("\n" + question + " ");
    const std::size_t begin = text.find('=', line) + 1;
    const std::size_t end = text.find_first_of("#\n", begin);
    text.replace(begin, end - begin, " " + value + " ");
    write_file_atomically(answers(), text);
  }

  Ran grade_mine(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--submission", "mine"});
    return grade(more);
  }

  nlohmann::json task(const Ran& ran) const {
    return nlohmann::json::parse(ran.out).at("tasks").at(0);
  }
};

TEST_F(FirstContactTest, AReportTellsWhatChangedSinceTheLastRun) {
  EXPECT_THAT(grade_mine().out, Not(HasSubstr("since the last run"))) << "there was none";
  EXPECT_THAT(grade_mine().out, Not(HasSubstr("since the last run"))) << "nothing changed";
  answer("sparse_peak", "\"z\"");
  const Ran changed = grade_mine();
  EXPECT_THAT(changed.out, HasSubstr("since the last run: not implemented -> "));
  EXPECT_THAT(read_file(folder_.path() / "out/part1-answers.html"),
              HasSubstr("Since the last run:"));
  EXPECT_THAT(grade_mine().out, Not(HasSubstr("since the last run")));
}

TEST_F(FirstContactTest, WhatIsNextIsOfTheSameSubmission) {
  std::filesystem::copy_file(ROOFLAB_SOURCE_DIR "/solutions/part1-metrics/answers.toml", answers(),
                             std::filesystem::copy_options::overwrite_existing);
  const Ran ran = grade_mine();
  EXPECT_EQ(ran.code, 0) << ran.error;
  EXPECT_THAT(ran.out, testing::ContainsRegex("\n  [a-z]+ +[^\n]* --part [0-9]+ --task [a-z_]+ "
                                              "--submission mine\n"));
  EXPECT_THAT(ran.out, HasSubstr("Next: part 1, task ")) << "first the part that was graded";
  EXPECT_THAT(ran.out, testing::ContainsRegex("\nStill open in part 0: [0-9]+ tasks\n"));
}

TEST_F(FirstContactTest, ASingleTaskHasItsOwnPointsAndThoseOfThePartBehindThem) {
  const Ran alone = grade_mine();
  EXPECT_THAT(alone.out, testing::ContainsRegex("\nanswers: 0 of [0-9]+ · report "));
  EXPECT_THAT(alone.out, Not(HasSubstr("so far"))) << "nothing else is known";
  run({"--part", "1", "--task", "worklog", "--submission", "mine", "--device", "sim:a100"});
  EXPECT_THAT(grade_mine().out, HasSubstr("\n  Part 1 so far: 0 of 100\n"));
}

TEST_F(FirstContactTest, TheDocumentTellsItTooAndAFreshCacheNothing) {
  grade_mine();
  answer("sparse_peak", "\"z\"");
  EXPECT_EQ(task(grade_mine({"--json", "-"})).at("since_last_run").at("verdict"),
            "not-implemented");
  environment_["ROOFLAB_CACHE"] = folder_.path() / "another";
  EXPECT_FALSE(task(grade_mine({"--json", "-"})).contains("since_last_run"));
}

TEST_F(FirstContactTest, ADamagedOrForeignStateCountsAsNoneAndIsReplaced) {
  grade_mine();
  const auto state = [&] {
    std::filesystem::path found;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(folder_.path() / "cache/runs")) {
      if (entry.path().extension() == ".json") found = entry.path();
    }
    return found;
  }();
  const std::string good = read_file(state);
  answer("sparse_peak", "\"z\"");
  for (const std::string& bad : {std::string("{"), std::string("[]"), std::string(2U << 20, ' '),
                                 good.substr(0, good.size() / 2), std::string("\0\xFF", 2)}) {
    write_file_atomically(state, bad);
    const Ran ran = grade_mine();
    EXPECT_EQ(ran.code, 1) << ran.error;
    EXPECT_THAT(ran.out, Not(HasSubstr("since the last run")));
    EXPECT_NE(read_file(state), bad);
  }
  std::string foreign = good;
  const std::string folder = folder_.path().filename().string();
  foreign.replace(foreign.find(folder), folder.size(), "elsewhere");
  write_file_atomically(state, foreign);
  EXPECT_THAT(grade_mine().out, Not(HasSubstr("since the last run")));
}

TEST_F(FirstContactTest, ARunOfFilesThatHaveNotChangedSaysSo) {
  const std::string said = "the files are those of your last run";
  EXPECT_THAT(grade_mine().out, Not(HasSubstr(said))) << "there was none";
  EXPECT_THAT(grade_mine().out, HasSubstr(said));
  answer("sparse_peak", "\"z\"");
  EXPECT_THAT(grade_mine().out, Not(HasSubstr(said)));
  EXPECT_THAT(grade_mine().out, HasSubstr(said));
}

TEST_F(FirstContactTest, AGradeFromInsideTheSubmissionWritesItsReportBesideIt) {
  const std::string grader = std::string(ROOFLAB_BINARY_DIR) + "/bin/grader";
  const auto from = [&](const std::string& folder) {
    return run_program({"sh", "-c",
                        fmt::format("cd {} && '{}' --part 1 --task answers --device sim:a100 "
                                    "--submission {}",
                                    folder, grader, (folder_.path() / "mine").string())});
  };
  for (const char* folder : {"mine", "mine/part1-metrics"}) {
    EXPECT_THAT(from(folder).out, HasSubstr((folder_.path() / "out/part1-answers.html").string()));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / folder / "out"));
  }
  EXPECT_THAT(from(".").out, HasSubstr(" · report out/part1-answers.html"));
}

TEST_F(FirstContactTest, ATraceSaysHowToOpenIt) {
  EXPECT_THAT(grade_mine({"--trace", "trace.json"}).out,
              HasSubstr("trace trace.json: open it in https://ui.perfetto.dev"));
}

TEST_F(FirstContactTest, ALoggedRunIsOneWholeRunOfATimedKernel) {
  const auto refused = [&](std::vector<std::string> more, const std::string& message) {
    more.insert(more.end(), {"--submission", "mine", "--device", "sim:a100"});
    expect_refusal(more, 2, message);
  };
  refused({"--part", "1", "--log", "faster"}, "name it with --task");
  refused({"--task", "gemv", "--case", "1", "--log", "faster"}, "one whole run of a task");
  refused({"--part", "1", "--task", "answers", "--log", "faster"}, "log one of gemm_naive");
  refused({"--part", "1", "--task", "gemv", "--log"}, "say what you expect of this version");
}

TEST_F(FirstContactTest, HintsAreToldInEveryReport) {
  EXPECT_THAT(grade_mine().out, Not(HasSubstr("hint used")));
  run({"--part", "1", "--task", "answers", "--hint", "answers", "--submission", "mine"});
  EXPECT_THAT(grade_mine().out,
              HasSubstr(" 1 hint used, of 3 for the task and for each question\n"));
  EXPECT_THAT(read_file(folder_.path() / "out/part1-answers.html"), HasSubstr("1 hint used, of 3"));
  const auto hints = task(grade_mine({"--json", "-"})).at("hints");
  EXPECT_EQ(hints.at("shown"), 1);
  EXPECT_EQ(hints.at("of").get<int>() % 3, 0);
  EXPECT_EQ(hints.at("points"), 0);
}

TEST_F(FirstContactTest, AHintIsForWhatFailedFirst) {
  const std::vector<std::string> ask = {"--part",       "1",   "--task", "answers", "--hint",
                                        "--submission", "mine"};
  EXPECT_THAT(run(ask).out, HasSubstr("answers, hint 1 of 3: ")) << "nothing has been graded";
  grade_mine();
  EXPECT_THAT(run(ask).out, HasSubstr("answers, ridge_fp32, hint 1 of 3: "));
  EXPECT_THAT(run(ask).out, HasSubstr("answers, ridge_fp32, hint 2 of 3: "));
}

TEST_F(FirstContactTest, ASaveBringsANewReport) {
  const pid_t watcher =
      start({std::string(ROOFLAB_BINARY_DIR) + "/bin/grader", "--part", "1", "--task", "answers",
             "--device", "sim:a100", "--submission", "mine", "--watch"});
  ASSERT_GT(watcher, 0);
  // Long: the machine may be busy. The test waits for events, not for time to pass.
  const auto waits_after = [&](int reports) {
    for (int i = 0; i < 1200; ++i) {
      const std::string out = read_file(folder_.path() / "stdout");
      int found = 0;
      for (std::size_t at = out.find("waiting for a save"); at != std::string::npos;
           at = out.find("waiting for a save", at + 1)) {
        ++found;
      }
      if (found >= reports) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  };
  EXPECT_TRUE(waits_after(1));
  write_file_atomically(folder_.path() / "mine/part1-metrics/.answers.toml.swp", "an editor's own");
  write_file_atomically(folder_.path() / "mine/part1-metrics/worklog.toml", "# another task's\n");
  answer("sparse_peak", "\"z\"");
  EXPECT_TRUE(waits_after(2)) << read_file(folder_.path() / "stderr");
  EXPECT_THAT(read_file(folder_.path() / "stdout"), HasSubstr("since the last run: "));
  EXPECT_THAT(read_file(folder_.path() / "stdout"), Not(HasSubstr("nothing that is graded here")));
  ::kill(watcher, SIGTERM);
  int status = 0;
  ::waitpid(watcher, &status, 0);
}

}  // namespace
}  // namespace rooflab
