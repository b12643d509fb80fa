// What of following Slurm needs no Slurm: reading what it prints, and a controller that is away.
#include "grader/batch/execute/clusters/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "grader/batch/execute/clusters/run_command.h"
#include "grader/batch/execute/clusters/slurm_executor.h"
#include "grader/batch/execute/clusters/task_list.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SlurmOutputTest, TheQueueIsReadLineByLine) {
  const auto tasks = parse_queue(
      "rooflab-1|0|RUNNING|None\nrooflab-1|12|PENDING|Resources|and (more)\n"
      "rooflab-2|N/A|CANCELLED|None\n");
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[0].array, "rooflab-1");
  EXPECT_EQ(tasks[0].index, 0U);
  EXPECT_EQ(tasks[0].state, "RUNNING");
  EXPECT_EQ(tasks[1].index, 12U);
  EXPECT_EQ(tasks[1].reason, "Resources|and (more)");
  EXPECT_EQ(tasks[2].index, std::nullopt);
  EXPECT_TRUE(parse_queue("").empty());
}

TEST(SlurmOutputTest, NonsenseIsNotGuessedAt) {
  for (const char* text :
       {"CLUSTER: one\n", "a|b|RUNNING|None\n", "a|1|RUNNING\n", "|1|RUNNING|\n", "a|1||None\n",
        "a|-1|RUNNING|None\n", "a|99999999999999999999|RUNNING|\n"}) {
    EXPECT_THROW(parse_queue(text), ExecutorError) << text;
  }
  for (const char* text : {"", "job 12", "12\n13\n", "-1", "12x;cluster"}) {
    EXPECT_THROW(parse_job_number(text), ExecutorError) << text;
  }
  for (const char* text : {"", "MaxArraySize", "MaxArraySize = \n", "MaxArraySize = many\n",
                           "MaxArraySizeOther = 5\n", "MaxArraySize = 0\n"}) {
    EXPECT_THROW(parse_max_array_size(text), ExecutorError) << text;
  }
}

TEST(SlurmOutputTest, NumbersAreFoundWhereSlurmWritesThem) {
  EXPECT_EQ(parse_job_number("12\n"), 12U);
  EXPECT_EQ(parse_job_number("12;cluster\n"), 12U);
  EXPECT_EQ(parse_max_array_size("Configuration data\nMailProg     = /bin/mail\n"
                                 "MaxArraySize            = 1001\nMaxDBDMsgs = 20008\n"),
            1001U);
}

TEST(SlurmOutputTest, EveryStateHasAFate) {
  const auto fate = [](const char* state, const char* reason = "None") {
    return fate_of({.array = "a", .index = 0, .state = state, .reason = reason});
  };
  EXPECT_EQ(fate("PENDING"), TaskFate::waiting);
  EXPECT_EQ(fate("PENDING", "JobHeldUser"), TaskFate::waiting);
  EXPECT_EQ(fate("PENDING", "launch failed requeued held"), TaskFate::held);
  EXPECT_EQ(fate("COMPLETING"), TaskFate::running);
  EXPECT_EQ(fate("NODE_FAIL"), TaskFate::lost);
  EXPECT_EQ(fate("TIMEOUT"), TaskFate::ended);
  EXPECT_EQ(fate("CANCELLED"), TaskFate::cancelled);
  EXPECT_THROW(fate("FLYING"), ExecutorError);
}

TEST(SlurmRequestTest, AsksForWhatATaskNeeds) {
  const ArrayRequest request{.name = "rooflab-1",
                             .tasks = 30,
                             .at_most = 4,
                             .cpus = 2,
                             .memory_mib = 4096,
                             .minutes = 11,
                             .partition = "gpu",
                             .arguments = {"--gres=gpu:1", "--exclusive"},
                             .script = "/class/slurm/rooflab-1/task.sh",
                             .messages = "/class/100%/rooflab-1"};
  EXPECT_THAT(sbatch_arguments(request),
              ElementsAre("--parsable", "--requeue", "--job-name=rooflab-1", "--array=0-29%4",
                          "--output=/class/100%%/rooflab-1/%a.txt", "--cpus-per-task=2",
                          "--mem=4096M", "--time=11", "--partition=gpu", "--gres=gpu:1",
                          "--exclusive", "/class/slurm/rooflab-1/task.sh"));
}

TEST(SlurmRequestTest, RefusesArgumentsThatWouldHideTheArray) {
  for (const char* argument : {"--array=1-2", "-a1-2", "--job-name", "-J", "--wrap=true", "--wait",
                               "--clusters=other", "-M", "--arr=1", "--no-requeue"}) {
    ArrayRequest request{.name = "a",
                         .tasks = 1,
                         .partition = "",
                         .arguments = {argument},
                         .script = "/s",
                         .messages = "/m"};
    EXPECT_THROW(sbatch_arguments(request), ExecutorError) << argument;
  }
  for (const char* argument :
       {"--account=course", "-A", "--mem-bind=local", "--qos=low", "--nice"}) {
    ArrayRequest request{.name = "a",
                         .tasks = 1,
                         .partition = "",
                         .arguments = {argument},
                         .script = "/s",
                         .messages = "/m"};
    EXPECT_THAT(sbatch_arguments(request), Contains(argument));
  }
}

class WithFolder : public testing::Test {
 protected:
  /// A program of the name that does what the text says.
  void program(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() / name) << "#!/bin/sh\n" << text << "\n";
    chmod((folder_.path() / name).c_str(), 0755);
  }
  Job job(const std::string& name) {
    fs::create_directories(folder_.path() / name);
    return {.name = name, .folder = folder_.path() / name, .limit_s = 10};
  }
  TemporaryFolder folder_{fs::temp_directory_path()};
};

class AbsentSlurmTest : public WithFolder {
 protected:
  SlurmOptions options() {
    SlurmOptions options;
    options.grader = "/bin/false";
    options.folder = folder_.path() / "slurm";
    options.poll = 20ms;
    options.grace = 100ms;
    options.patience = 500ms;
    options.command_limit = 200ms;
    options.programs = folder_.path();
    options.progress = [this](const std::string& line) { told_.push_back(line); };
    return options;
  }
  std::string error_of_run() {
    try {
      SlurmExecutor(options()).run(
          {job("one")}, [](const JobEnd&) {}, [] { return false; });
    } catch (const ExecutorError& error) {
      return error.what();
    }
    return "";
  }
  std::vector<std::string> told_;
};

TEST_F(AbsentSlurmTest, IsWaitedForAndToldOfOnce) {
  program("scontrol", "echo 'Unable to contact slurm controller' >&2; exit 1");
  const std::string error = error_of_run();
  EXPECT_THAT(error, HasSubstr("Unable to contact slurm controller"));
  EXPECT_THAT(error, HasSubstr("run the same command again"));
  EXPECT_THAT(told_, ElementsAre("waiting for Slurm: scontrol failed: Unable to contact slurm "
                                 "controller"));
}

TEST_F(AbsentSlurmTest, ACommandThatHangsIsSilence) {
  program("scontrol", "sleep 1000");
  EXPECT_THAT(error_of_run(), HasSubstr("scontrol did not come to an end"));
}

TEST_F(AbsentSlurmTest, JobsOfAnArrayInDoubtAreSubmittedOnceSlurmAnswers) {
  const std::string answers = "test -e " + (folder_.path() / "answers").string();
  program("scontrol", "echo 'MaxArraySize = 5'");
  program("sbatch", answers + " && { echo 7; exit; }; echo 'Socket timed out' >&2; exit 1");
  program("squeue", answers + " || exit 1");
  const Job one = job("one");
  SlurmOptions patient = options();
  patient.patience = 20s;
  bool done = false;
  SlurmExecutor(patient).run(
      {one}, [&](const JobEnd& end) { done = end.done; },
      [&] {
        if (!told_.empty()) std::ofstream(folder_.path() / "answers") << "";
        if (told_.size() > 1) std::ofstream(one.folder / "result.json") << "{}";
        return false;
      });
  EXPECT_TRUE(done);
  EXPECT_TRUE(fs::is_empty(folder_.path() / "slurm"));
}

TEST_F(AbsentSlurmTest, ARefusalIsToldInSlurmsWords) {
  program("scontrol", "echo 'MaxArraySize = 5'");
  program("sbatch", "echo 'sbatch: error: invalid partition specified: x' >&2; exit 1");
  program("squeue", "");
  EXPECT_THAT(error_of_run(), HasSubstr("invalid partition specified: x"));
  EXPECT_TRUE(fs::is_empty(folder_.path() / "slurm"));
}

TEST_F(AbsentSlurmTest, ATaskThatIsLostTooOftenIsGivenUp) {
  program("scontrol", "echo 'MaxArraySize = 5'");
  program("sbatch", "echo x >> " + (folder_.path() / "submitted").string() + "; echo 7");
  program("squeue", "");
  std::vector<JobEnd> ends;
  SlurmExecutor(options()).run(
      {job("one")}, [&](const JobEnd& end) { ends.push_back(end); }, [] { return false; });
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].why, "its task was lost 3 times in Slurm, the last time without a trace");
  EXPECT_EQ(read_file(folder_.path() / "submitted"), "x\nx\nx\n");
}

TEST_F(AbsentSlurmTest, IsNotNeededWhereResultsAreThere) {
  std::ofstream(job("one").folder / "result.json") << "{}";
  std::vector<std::string> done;
  SlurmExecutor(options()).run(
      {job("one")}, [&](const JobEnd& end) { done.push_back(end.name); }, [] { return false; });
  EXPECT_THAT(done, ElementsAre("one"));
}

class TaskTest : public WithFolder {
 protected:
  fs::path list() { return folder_.path() / "it's a list.json"; }
  int run(std::size_t index) { return run_task(folder_.path() / "grader", list(), index); }
};

TEST_F(TaskTest, RunsTheJobOfItsNumber) {
  program("grader", "echo '{}' > \"$2/result.json\"");
  const std::vector<Job> jobs = {job("one"), job("two $(touch x) 'quoted'")};
  write_task_list(list(), jobs);
  EXPECT_EQ(run(1), 0);
  EXPECT_FALSE(has_result(jobs[0]));
  EXPECT_TRUE(has_result(jobs[1]));
  EXPECT_THROW(run(2), ExecutorError);
}

TEST_F(TaskTest, RunsNothingTwiceAndNothingOfAClosedList) {
  program("grader", "echo started >> \"$2/starts\"; echo '{}' > \"$2/result.json\"");
  const std::vector<Job> jobs = {job("one"), job("two")};
  write_task_list(list(), jobs);
  EXPECT_EQ(run(0), 0);
  EXPECT_EQ(run(0), 0);
  EXPECT_EQ(read_file(jobs[0].folder / "starts"), "started\n");
  close_task_list(list());
  EXPECT_EQ(run(1), 0);
  EXPECT_FALSE(fs::exists(jobs[1].folder / "starts"));
}

TEST_F(TaskTest, AFolderThatIsGoneStaysSo) {
  program("grader", "rm -r \"$2\"");
  const std::vector<Job> jobs = {job("one"), job("two")};
  write_task_list(list(), jobs);
  fs::remove(jobs[0].folder);
  EXPECT_EQ(run(0), 0);
  EXPECT_EQ(run(1), 0);
  EXPECT_FALSE(fs::exists(jobs[0].folder));
  EXPECT_FALSE(fs::exists(jobs[1].folder));
}

TEST_F(TaskTest, LeavesBehindWhyThereIsNoResult) {
  program("grader", "exit 3");
  const Job one = job("one");
  write_task_list(list(), {one});
  EXPECT_FALSE(last_failure(one, list()));
  EXPECT_EQ(run(0), 1);
  ASSERT_TRUE(last_failure(one, list()));
  EXPECT_EQ(last_failure(one, list())->why, "the worker ended with exit code 3 and left no result");
  EXPECT_EQ(last_failure(one, list())->attempts, 1U);
  EXPECT_EQ(run(0), 1);
  EXPECT_EQ(last_failure(one, list())->attempts, 2U);
  EXPECT_FALSE(last_failure(one, folder_.path() / "another.json"));
}

TEST_F(TaskTest, AListThatIsNoneIsSaidSo) {
  for (const char* text : {"", "{", "[]", "{\"schema\": 2, \"jobs\": []}", "{\"schema\": 1}",
                           "{\"schema\": 1, \"jobs\": [{\"name\": 1}]}"}) {
    std::ofstream(list()) << text;
    EXPECT_THROW(read_task_list(list()), FileError) << text;
  }
}

TEST(RunCommandTest, BoundsTimeAndOutput) {
  const auto run = [](const std::string& script, CommandLimits limits = {}) {
    return run_command({"sh", "-c", script}, {"PATH=/usr/bin:/bin"}, limits, [] { return false; });
  };
  const CommandOutcome good = run("echo out; echo err >&2; exit 3");
  EXPECT_TRUE(good.ended);
  EXPECT_EQ(good.exit_code, 3);
  EXPECT_EQ(good.output, "out\n");
  EXPECT_EQ(good.errors, "err\n");
  EXPECT_FALSE(run("sleep 1000", {.time = 100ms}).ended);
  EXPECT_FALSE(run("yes", {.output_bytes = 1000}).ended);
  EXPECT_FALSE(run("head -c 5000 /dev/zero", {.output_bytes = 1000}).ended);
  EXPECT_THROW(run_command({"/nonexistent/squeue"}, {}, {}, [] { return false; }), ExecutorError);
}

}  // namespace
}  // namespace rooflab
