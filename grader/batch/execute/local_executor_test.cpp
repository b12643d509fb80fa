#include "grader/batch/execute/local_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "grader/batch/execute/worker_process.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr const char* kLeaveResult = "echo '{}' > result.tmp && mv result.tmp result.json\n";
// Leaves its session, its parent and its output behind, and is found by its argument's name.
constexpr const char* kDaemon =
    "setsid bash -c '(exec -a daemon-of-$0 sleep 1000 >/dev/null 2>&1 &) ; exit' \"$PWD\" &\n"
    "sleep 0.2\n";

fs::path grader() { return fs::path(ROOFLAB_BINARY_DIR) / "tests" / "stand_in_grader"; }

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

bool runs(const std::string& words) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    if (text_of(entry.path() / "cmdline").find(words) != std::string::npos) return true;
  }
  return false;
}

bool eventually(const std::function<bool()>& holds) {
  for (const auto patience = Clock::now() + 20s; Clock::now() < patience;) {
    if (holds()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

class LocalExecutorTest : public testing::Test {
 protected:
  Job job(const std::string& name, const std::string& script, double limit_s = 60) {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path);
    std::ofstream(path / "do.sh") << script;
    return {.name = name, .folder = path, .limit_s = limit_s};
  }

  /// Ends by job. That each is told of only once is checked here.
  std::map<std::string, JobEnd> run(
      const std::vector<Job>& jobs, unsigned at_a_time = 2,
      const std::function<bool()>& idle = [] { return false; }) {
    std::map<std::string, JobEnd> ends;
    LocalExecutor({.grader = grader(), .jobs = at_a_time})
        .run(
            jobs,
            [&](const JobEnd& end) {
              EXPECT_TRUE(ends.emplace(end.name, end).second) << end.name << " ended twice";
            },
            idle);
    return ends;
  }

  TemporaryFolder folder_{fs::temp_directory_path()};
};

TEST_F(LocalExecutorTest, RunsEveryJobAndTellsOfEachEndOnce) {
  std::vector<Job> jobs;
  for (int i = 0; i < 12; ++i) jobs.push_back(job("job" + std::to_string(i), kLeaveResult));
  const auto ends = run(jobs, 3);
  ASSERT_EQ(ends.size(), jobs.size());
  for (const Job& one : jobs) {
    EXPECT_TRUE(ends.at(one.name).done) << ends.at(one.name).why;
    EXPECT_TRUE(has_result(one));
  }
}

TEST_F(LocalExecutorTest, RunsAsManyAtATimeAsAskedAndNoMore) {
  const fs::path running = folder_.path() / "running";
  fs::create_directory(running);
  std::vector<Job> jobs;
  for (int i = 0; i < 9; ++i) {
    jobs.push_back(job("job" + std::to_string(i),
                       "touch ../running/$$; ls ../running | wc -l\n"
                       "sleep 0.1; rm ../running/$$\n" +
                           std::string(kLeaveResult)));
  }
  run(jobs, 3);
  int most = 0;
  for (const Job& one : jobs) most = std::max(most, std::stoi(text_of(one.folder / "log.txt")));
  EXPECT_EQ(most, 3);
}

TEST_F(LocalExecutorTest, AWorkerThatLeftItsResultIsDoneHoweverItEnded) {
  const auto ends = run({job("code", std::string(kLeaveResult) + "exit 3"),
                         job("signal", std::string(kLeaveResult) + "kill -SEGV $$")});
  EXPECT_TRUE(ends.at("code").done);
  EXPECT_TRUE(ends.at("signal").done);
}

TEST_F(LocalExecutorTest, SaysWhyAJobIsNotDone) {
  const auto ends =
      run({job("code", "exit 3"), job("signal", "kill -SEGV $$"), job("slow", "sleep 1000", 0.3),
           job("link", "ln -s do.sh result.json"), job("folder", "mkdir result.json")});
  EXPECT_EQ(ends.at("code").why, "the worker ended with exit code 3 and left no result");
  EXPECT_EQ(ends.at("signal").why, "the worker was ended by SIGSEGV");
  EXPECT_EQ(ends.at("slow").why, "the worker took longer than 0.3 s and was ended");
  EXPECT_EQ(ends.at("link").why, "the worker ended with exit code 0 and left no result");
  EXPECT_EQ(ends.at("folder").why, "the worker ended with exit code 0 and left no result");
  for (const auto& [name, end] : ends) EXPECT_FALSE(end.done) << name;
}

TEST_F(LocalExecutorTest, SaysWhenTheWorkerCannotBeStarted) {
  std::vector<JobEnd> ends;
  LocalExecutor({.grader = "/nonexistent/grader", .jobs = 1})
      .run(
          {job("one", "")}, [&](const JobEnd& end) { ends.push_back(end); }, [] { return false; });
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].why, "the worker could not be started: No such file or directory");
}

TEST_F(LocalExecutorTest, DoesNotStartWhatHasItsResult) {
  const Job one = job("one", "touch started");
  std::ofstream(one.folder / "result.json") << "{}";
  EXPECT_TRUE(run({one}).at("one").done);
  EXPECT_FALSE(fs::exists(one.folder / "started"));
}

TEST_F(LocalExecutorTest, EndsWhatAWorkerLeavesBehind) {
  const Job one = job("one", std::string(kDaemon) + kLeaveResult);
  EXPECT_TRUE(run({one}).at("one").done);
  EXPECT_FALSE(runs("daemon-of-" + one.folder.string()));
}

TEST_F(LocalExecutorTest, ATimeLimitEndsWhatLeftTheSession) {
  const Job one = job("one", std::string(kDaemon) + "touch ready; sleep 1000", 1);
  EXPECT_THAT(run({one}).at("one").why, HasSubstr("took longer than 1 s"));
  EXPECT_TRUE(fs::exists(one.folder / "ready"));
  EXPECT_FALSE(runs("daemon-of-" + one.folder.string()));
}

TEST_F(LocalExecutorTest, ATimeLimitEndsAWorkerThatForksAndIgnoresSignals) {
  const Job one = job("one",
                      "trap '' TERM INT HUP; for i in 1 2 3 4 5; do\n"
                      "(trap '' TERM; while :; do sleep 0.01; done) & done; wait",
                      0.5);
  const auto begin = Clock::now();
  EXPECT_FALSE(run({one}).at("one").done);
  EXPECT_LT(Clock::now() - begin, 10s);
}

TEST_F(LocalExecutorTest, AnEarlyEndEndsWhatRunsAndTellsOfResultsOnly) {
  const Job with = job("with", std::string(kLeaveResult) + kDaemon + "touch ready; sleep 1000");
  const Job without = job("without", "touch ready; sleep 1000");
  const Job never = job("never", "touch started");
  const auto ends = run({with, without, never}, 2, [&] {
    return fs::exists(with.folder / "ready") && fs::exists(without.folder / "ready");
  });
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_TRUE(ends.at("with").done);
  EXPECT_FALSE(runs("daemon-of-" + with.folder.string()));
  EXPECT_FALSE(fs::exists(never.folder / "started"));
}

TEST_F(LocalExecutorTest, NothingOutlivesABatchThatIsKilled) {
  const Job one = job("one", std::string(kDaemon) + "exec -a worker-of-$PWD sleep 1000");
  const pid_t batch = fork();
  if (batch == 0) {
    LocalExecutor({.grader = grader(), .jobs = 1})
        .run(
            {one}, [](const JobEnd&) {}, [] { return false; });
    _exit(0);
  }
  ASSERT_TRUE(eventually([&] { return runs("worker-of-" + one.folder.string()); }));
  ASSERT_TRUE(eventually([&] { return runs("daemon-of-" + one.folder.string()); }));
  kill(batch, SIGKILL);
  waitpid(batch, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return !runs(one.folder.string()); }));
}

TEST_F(LocalExecutorTest, NoGuestOutlivesAWorkerThatIsKilled) {
  const Job one = job("one", "exec -a guest-of-$(dirname \"$0\") sleep 1000");
  std::ofstream(one.folder / "sandboxed") << "";
  bool seen = false;
  run({one}, 1, [&] { return seen = seen || runs("guest-of-" + one.folder.string()); });
  EXPECT_TRUE(seen) << text_of(one.folder / "log.txt");
  EXPECT_FALSE(runs("guest-of-" + one.folder.string()));
}

TEST_F(LocalExecutorTest, KeepsWhatIsPrintedUpToALimit) {
  const Job quiet = job("quiet", "echo out; echo err >&2; " + std::string(kLeaveResult));
  const Job loud = job("loud", "head -c 30000000 /dev/zero; " + std::string(kLeaveResult));
  const auto ends = run({quiet, loud});
  EXPECT_TRUE(ends.at("loud").done) << ends.at("loud").why;
  EXPECT_EQ(text_of(quiet.folder / "log.txt"), "out\nerr\n");
  const std::string log = text_of(loud.folder / "log.txt");
  EXPECT_LE(log.size(), WorkerProcess::kLogBytes + 100);
  EXPECT_EQ(log.substr(0, WorkerProcess::kLogBytes), std::string(WorkerProcess::kLogBytes, '\0'));
  EXPECT_THAT(log.substr(WorkerProcess::kLogBytes), HasSubstr("left out"));
}

TEST_F(LocalExecutorTest, ALogThatIsALinkIsNotFollowed) {
  const Job one = job("one", "echo text; " + std::string(kLeaveResult));
  fs::create_symlink(folder_.path() / "elsewhere", one.folder / "log.txt");
  EXPECT_TRUE(run({one}).at("one").done);
  EXPECT_FALSE(fs::exists(folder_.path() / "elsewhere"));
}

TEST_F(LocalExecutorTest, AWorkerGetsNoDescriptorsAndNoInputOfOurs) {
  const int kept = dup(1);  // without close-on-exec
  const Job one = job("one",
                      "count=0; for fd in {3..199}; do\n"
                      "  if [ -e /proc/$$/fd/$fd ]; then count=$((count + 1)); fi\n"
                      "done; echo $count\n"
                      "wc -c; " +
                          std::string(kLeaveResult));
  run({one});
  close(kept);
  // bash keeps the script itself open as 255; a pipe of its own would count while it is made.
  EXPECT_EQ(text_of(one.folder / "log.txt"), "0\n0\n");
}

TEST_F(LocalExecutorTest, LeavesNoProcessAndNoDescriptorBehind) {
  const auto descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = descriptors();
  std::vector<Job> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(job("job" + std::to_string(i), kLeaveResult));
  run(jobs);
  EXPECT_EQ(descriptors(), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(LocalExecutorTest, AnErrorOfTheCallerEndsWhatRuns) {
  const Job first = job("first", kLeaveResult);
  const Job second = job("second", std::string(kDaemon) + "sleep 1000");
  EXPECT_THROW(
      LocalExecutor({.grader = grader(), .jobs = 2})
          .run(
              {second, first}, [](const JobEnd&) { throw std::runtime_error("disk full"); },
              [] { return false; }),
      std::runtime_error);
  EXPECT_FALSE(runs("daemon-of-" + second.folder.string()));
}

}  // namespace
}  // namespace rooflab
