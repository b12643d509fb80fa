#include "grader/cli/log_version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/cli/task_files.h"
#include "grader/pipeline/grade.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

/// A submission of a part with two timed kernels, one that is not timed, and a work log.
class LogVersionTest : public testing::Test {
 protected:
  LogVersionTest() : folder_(testing::TempDir()) {
    part_.number = 7;
    part_.directory = "part7-test";
    part_.headers = {"common.cuh", "deep.cuh"};
    part_.tasks = {kernel("scale", true), kernel("shift", true), kernel("plain", false)};
    TaskSpec log;
    log.id = "worklog";
    log.kind = TaskKind::worklog;
    log.file = "worklog.toml";
    part_.tasks.push_back(log);
    write("scale.cu", "#include \"common.cuh\"\n// one\n");
    write("shift.cu", "// shifts\n");
    write("plain.cu", "// plain\n");
    write("common.cuh", "#include \"deep.cuh\"\n");
    write("deep.cuh", "// deep\n");
    write("worklog.toml", "# mine\n");
  }

  static TaskSpec kernel(const std::string& id, bool timed) {
    TaskSpec task;
    task.id = id;
    task.file = id + ".cu";
    if (timed) task.speeds.resize(1);
    return task;
  }

  void write(const std::string& name, const std::string& text) const {
    write_file_atomically(folder_.path() / "part7-test" / name, text);
  }
  std::string read(const std::string& name) const {
    return read_file(folder_.path() / "part7-test" / name);
  }
  VersionLog begin(const std::string& hypothesis, const std::string& task = "scale") const {
    return {part_, task, folder_.path(), hypothesis};
  }
  /// What refuses to begin; empty where it begins.
  std::string refusal(const std::string& hypothesis, const std::string& task = "scale") const {
    try {
      begin(hypothesis, task);
    } catch (const UsageError& error) {
      return error.what();
    }
    return {};
  }

  static GradeResult graded(double time_us, double instructions = 1e6,
                            Verdict verdict = Verdict::pass) {
    GradeResult result;
    result.device = "sim:a100";
    TaskResult& task = result.tasks.emplace_back();
    task.id = "scale";
    task.verdict = verdict;
    task.counters["smsp__inst_executed.sum"] = instructions;
    task.timings.emplace_back().time_us = time_us;
    task.timings.back().name = "2^20";
    return result;
  }
  std::vector<LoggedRun> kept() const { return logged_runs_in(read(kLoggedRunsFile)); }

  TemporaryFolder folder_;
  PartSpec part_;
};

TEST_F(LogVersionTest, ARunIsKeptWithItsFilesAndWhatWasExpected) {
  const std::string told = begin("half the loads").keep(graded(664));
  EXPECT_THAT(told, AllOf(StartsWith("logged as version 1 in "), HasSubstr("worklog.toml: 664 us"),
                          HasSubstr("still to be written there: counter_1, result_1")));
  EXPECT_EQ(read("worklog.toml"),
            "# mine\n\nhypothesis_1 = \"half the loads\"\ncounter_1 = \"\"\nresult_1 = \"\"\n");
  ASSERT_THAT(kept(), SizeIs(1));
  EXPECT_EQ(kept()[0].time_us, 664);
  ASSERT_THAT(kept()[0].files, SizeIs(3)) << "its own and the headers";
  EXPECT_EQ(kept()[0].files[0].text, "#include \"common.cuh\"\n// one\n");
}

TEST_F(LogVersionTest, TheNextVersionIsHeldAgainstTheOneBefore) {
  begin("one").keep(graded(664, 1e6));
  write("scale.cu", "// two\n");
  EXPECT_THAT(
      begin("two").keep(graded(332, 5e5)),
      AllOf(StartsWith("logged as version 2 in "), HasSubstr("332 us, after 664 us in version 1"),
            HasSubstr("counters: instructions of warps 1e+06 -> 500000")));
  write("scale.cu", "// three\n");
  EXPECT_THAT(begin("three").keep(graded(330, 5e5)), HasSubstr("counters: none moved by a fifth"));
}

TEST_F(LogVersionTest, AHypothesisThatStandsInTheFileNeedNotBeTyped) {
  EXPECT_THAT(refusal(""), AllOf(HasSubstr("say what you expect"), HasSubstr("hypothesis_1")));
  write("worklog.toml", "hypothesis_1 = \"half the loads\"\ncounter_1 = \"launches\"\n");
  EXPECT_THAT(begin("").keep(graded(664)), HasSubstr("still to be written there: result_1\n"));
  EXPECT_EQ(read("worklog.toml"), "hypothesis_1 = \"half the loads\"\ncounter_1 = \"launches\"\n");
}

TEST_F(LogVersionTest, AFileThatHasNotChangedIsNoVersion) {
  begin("one").keep(graded(664));
  EXPECT_EQ(refusal("two"), "scale.cu is as it was in version 1: change it, then log it");
  write("deep.cuh", "// deeper\n");
  EXPECT_EQ(refusal("two"), "");
}

TEST_F(LogVersionTest, ARunThatFailsIsNotKept) {
  EXPECT_EQ(begin("one").keep(graded(664, 1e6, Verdict::wrong_answer)),
            "not logged: scale does not pass, so that it has no time\n");
  EXPECT_EQ(read("worklog.toml"), "# mine\n");
  VersionLog log = begin("one");
  write("scale.cu", "// saved in between\n");
  EXPECT_THAT(log.keep(graded(664)), HasSubstr("was saved while it was graded"));
}

TEST_F(LogVersionTest, ALogHasOneKernelThatIsTimed) {
  EXPECT_THAT(refusal("x", "plain"), HasSubstr("log one of scale, shift"));
  begin("one").keep(graded(664));
  EXPECT_THAT(refusal("x", "shift"), StartsWith("the work log is about scale"));
  part_.tasks.pop_back();
  EXPECT_THAT(refusal("x"), HasSubstr("asks for no work log"));
}

TEST_F(LogVersionTest, AFullLogLosesTheVersionsThatItsStudentRemoved) {
  for (std::size_t version = 1; version <= kMostVersions; ++version) {
    write("scale.cu", "// " + std::to_string(version) + "\n");
    begin("one more").keep(graded(664));
  }
  write("scale.cu", "// the last\n");
  EXPECT_THAT(refusal("x"), HasSubstr("has 12 versions"));
  std::string text = read("worklog.toml");
  const auto from = text.find("hypothesis_3");
  text.erase(from, text.find("hypothesis_4") - from);
  write("worklog.toml", text);
  EXPECT_THAT(begin("x").keep(graded(664)), StartsWith("logged as version 13"));
  EXPECT_THAT(kept(), SizeIs(kMostVersions));
}

using TaskFilesTest = LogVersionTest;

TEST_F(TaskFilesTest, AChangeIsOfTheTasksThatAreMadeOfTheFile) {
  const auto folder = folder_.path() / "part7-test";
  const TaskFiles then(part_, folder);
  EXPECT_THAT(TaskFiles(part_, folder).tasks_changed_since(then), IsEmpty());
  write("shift.cu", "// shifts more\n");
  EXPECT_THAT(TaskFiles(part_, folder).tasks_changed_since(then), ElementsAre("shift"));
  write("shift.cu", "// shifts\n");
  EXPECT_THAT(TaskFiles(part_, folder).tasks_changed_since(then), IsEmpty()) << "as it was";
}

TEST_F(TaskFilesTest, AHeaderIsOfThoseThatIncludeItByWhateverWay) {
  const auto folder = folder_.path() / "part7-test";
  const TaskFiles then(part_, folder);
  write("deep.cuh", "// deeper\n");
  EXPECT_THAT(TaskFiles(part_, folder).tasks_changed_since(then), ElementsAre("scale"));
}

TEST_F(TaskFilesTest, AFileThatIsGoneOrNoTextIsAChange) {
  const auto folder = folder_.path() / "part7-test";
  const TaskFiles then(part_, folder);
  std::filesystem::remove(folder / "plain.cu");
  std::filesystem::remove(folder / "shift.cu");
  std::filesystem::create_symlink("/dev/zero", folder / "shift.cu");
  EXPECT_THAT(TaskFiles(part_, folder).tasks_changed_since(then), ElementsAre("shift", "plain"));
}

}  // namespace
}  // namespace rooflab
