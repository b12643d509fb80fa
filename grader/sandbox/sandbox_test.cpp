#include "grader/sandbox/sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "grader/sandbox/landlock.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// Where a sandboxed program's limits come from: the strongest layers, the fallback, or limits
/// alone.
enum class Kind { strongest, fallback, limits_only };

std::string label_of(Kind kind) {
  return kind == Kind::strongest ? "Strongest" : kind == Kind::fallback ? "Fallback" : "LimitsOnly";
}

fs::path program() { return fs::path(ROOFLAB_BINARY_DIR) / "tests" / "hostile_program"; }

/// A request for the hostile program to do `deed`, under small limits.
SandboxRequest request_for(Kind kind, std::vector<std::string> deed) {
  SandboxRequest request;
  request.argv = {program().string()};
  request.argv.insert(request.argv.end(), deed.begin(), deed.end());
  request.read_only = {program().parent_path()};
  request.limits.wall_s = 5;
  request.limits.memory_bytes = 128ULL << 20;
  request.limits.output_bytes = 4096;
  request.limits.disk_bytes = 4ULL << 20;
  request.limits.disk_files = 500;
  request.limits.file_bytes = 64ULL << 20;
  request.limits.processes = 24;
  request.limits.open_files = 64;
  request.enabled = kind != Kind::limits_only;
  request.allow_bubblewrap = kind == Kind::strongest;
  return request;
}

/// Processes of this machine whose arguments hold `mark`: a sandboxed program's survivors.
std::vector<std::string> survivors(const std::string& mark) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos ||
        name == std::to_string(getpid())) {
      continue;
    }
    // Reading fails when the process ends meanwhile: << stops there, where iterators would throw.
    std::ostringstream arguments;
    arguments << std::ifstream(entry->path() / "cmdline").rdbuf();
    if (arguments.str().find(mark) != std::string::npos) {
      found.push_back(name);
    }
  }
  return found;
}

/// An argument that marks one run's processes.
std::string fresh_mark() {
  static int counter = 0;
  return "mark-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
}

class SandboxTest : public testing::TestWithParam<Kind> {
 protected:
  SandboxOutcome run(const std::string& deed, void (*change)(SandboxRequest&) = nullptr) {
    SandboxRequest request = request_for(GetParam(), {deed, mark_});
    if (change != nullptr) {
      change(request);
    }
    return run_sandboxed(request);
  }
  void TearDown() override { EXPECT_TRUE(survivors(mark_).empty()) << "processes are left over"; }

  std::string mark_ = fresh_mark();
};

INSTANTIATE_TEST_SUITE_P(Layers, SandboxTest,
                         testing::Values(Kind::strongest, Kind::fallback, Kind::limits_only),
                         [](const auto& info) { return label_of(info.param); });

TEST_P(SandboxTest, PassesOnOutputAndExitCode) {
  const SandboxOutcome outcome = run("greet");
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(outcome.limit, LimitHit::none);
  EXPECT_EQ(outcome.output, "to stdout\nto stderr\n");
}

TEST_P(SandboxTest, MinusOneIsAnExitCodeAndNoSignal) {
  const SandboxOutcome outcome = run("minus_one");
  EXPECT_EQ(outcome.exit_code, 255);
  EXPECT_EQ(outcome.signal, 0);
}

TEST_P(SandboxTest, RunsAProgramInAFolderThatIsClosedToOthers) {
  std::string closed = (fs::temp_directory_path() / "rooflab-closed-XXXXXX").string();
  ASSERT_NE(mkdtemp(closed.data()), nullptr);  // mode 0700, as /root has
  const fs::path inner = fs::path(closed) / "inner";
  fs::create_directory(inner);
  fs::copy(program(), inner / "program");
  SandboxRequest request = request_for(GetParam(), {"greet", mark_});
  request.argv.front() = inner / "program";
  request.read_only = {inner};
  const SandboxOutcome outcome = run_sandboxed(request);
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.output, "to stdout\nto stderr\n");
  if (request
          .enabled) {  // limits alone leave root its powers: trying them would change the machine
    request.argv[1] = "privileges";
    EXPECT_EQ(run_sandboxed(request).output, "refused refused refused refused\n");
  }
  fs::remove_all(closed);
}

TEST_P(SandboxTest, TellsTheSignalThatEndedAProgram) {
  EXPECT_EQ(run("crash").signal, SIGSEGV);
  EXPECT_EQ(run("abort").signal, SIGABRT);
}

// 128 and a signal's number are what shells and bubblewrap make of a signal.
TEST_P(SandboxTest, AnExitCodeIsNoSignalWhateverItsNumber) {
  for (const int code : {128, 128 + SIGSEGV, 128 + SIGKILL, 128 + SIGXCPU, 128 + SIGXFSZ}) {
    const SandboxOutcome outcome =
        run_sandboxed(request_for(GetParam(), {"exit", mark_, std::to_string(code)}));
    EXPECT_EQ(outcome.exit_code, code);
    EXPECT_EQ(outcome.signal, 0) << code;
    EXPECT_EQ(outcome.limit, LimitHit::none) << code;
  }
}

TEST_P(SandboxTest, OnlyTimeOnTheProcessorIsTimeOnTheProcessor) {
  SandboxRequest exits = request_for(GetParam(), {"sleep_and_exit", mark_, "137"});
  exits.limits.cpu_s = 1;
  const SandboxOutcome exited = run_sandboxed(exits);
  EXPECT_EQ(exited.exit_code, 137);
  EXPECT_EQ(exited.signal, 0);
  EXPECT_EQ(exited.limit, LimitHit::none);
  const SandboxOutcome killed = run("sleep_and_die", [](SandboxRequest& r) { r.limits.cpu_s = 1; });
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.limit, LimitHit::none);
}

TEST_P(SandboxTest, AProgramThatEndsItsSandboxIsNoFaultOfTheSandbox) {
  EXPECT_NO_THROW(run("kill_its_parent"));
}

TEST_P(SandboxTest, EndsAnEndlessLoopAtTheTimeLimit) {
  const SandboxOutcome outcome = run("loop", [](SandboxRequest& r) { r.limits.wall_s = 0.3; });
  EXPECT_EQ(outcome.limit, LimitHit::time);
  EXPECT_EQ(outcome.time_limit_s, 0.3);
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_LT(outcome.wall_s, 3);
}

TEST_P(SandboxTest, EndsASleeperAtTheTimeLimit) {
  const SandboxOutcome outcome = run("sleep", [](SandboxRequest& r) { r.limits.wall_s = 0.3; });
  EXPECT_EQ(outcome.limit, LimitHit::time);
  EXPECT_LT(outcome.wall_s, 3);
}

TEST_P(SandboxTest, EndsAStoppedProgramAtTheTimeLimit) {
  EXPECT_EQ(run("stop", [](SandboxRequest& r) { r.limits.wall_s = 0.3; }).limit, LimitHit::time);
}

TEST_P(SandboxTest, EndsAProgramThatIgnoresEverySignal) {
  const SandboxOutcome outcome = run("ignore", [](SandboxRequest& r) { r.limits.wall_s = 0.3; });
  EXPECT_EQ(outcome.limit, LimitHit::time);
}

TEST_P(SandboxTest, CountsCpuTimeEvenWhenItsSignalIsIgnored) {
  const SandboxOutcome outcome = run("ignore", [](SandboxRequest& r) {
    r.limits.cpu_s = 1;
    r.limits.wall_s = 20;
  });
  EXPECT_EQ(outcome.limit, LimitHit::time);
  EXPECT_EQ(outcome.time_limit_s, 1);
  EXPECT_LT(outcome.wall_s, 15);
}

TEST_P(SandboxTest, EndsAForkBomb) {
  const std::vector<std::string> layers = active_layers(GetParam() != Kind::limits_only);
  const bool grouped = std::find(layers.begin(), layers.end(), "control groups") != layers.end();
  if (GetParam() == Kind::limits_only && geteuid() == 0 && !grouped) {
    GTEST_SKIP() << "without a sandbox and control groups nothing limits the processes of root";
  }
  const SandboxOutcome outcome = run("fork_bomb");
  EXPECT_THAT(outcome.limit, testing::AnyOf(LimitHit::processes, LimitHit::time));
}

TEST_P(SandboxTest, EndsADaemonWithItsProgram) {
  const SandboxOutcome outcome = run("daemon");
  EXPECT_EQ(outcome.limit, LimitHit::none);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_LT(outcome.wall_s, 3);
}

TEST_P(SandboxTest, EndsAProgramThatTakesTooMuchMemory) {
  const SandboxOutcome outcome = run("allocate");
  EXPECT_EQ(outcome.limit, LimitHit::memory);
}

TEST_P(SandboxTest, CountsMemoryThatIsInNobodysResidentSet) {
  EXPECT_EQ(run("memory_files").limit, LimitHit::memory);
  EXPECT_EQ(run("shared_memory").limit, LimitHit::memory);
}

TEST_P(SandboxTest, CountsFilesThatNoFolderShows) {
  // Where the temporary folder is in memory, so are they.
  EXPECT_THAT(run("removed_files").limit, testing::AnyOf(LimitHit::disk, LimitHit::memory));
}

// However deep its folders are, and whether anybody may list them or not.
TEST_P(SandboxTest, LeavesNothingOfWhatAProgramDug) {
  const fs::path place = fs::path(testing::TempDir()) / ("rooflab-dug-" + mark_);
  fs::create_directory(place);
  fs::permissions(place, fs::perms::all);
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", place.c_str(), 1);
  const SandboxOutcome outcome = run("dig");
  if (before == nullptr) {
    unsetenv("TMPDIR");
  } else {
    setenv("TMPDIR", kept.c_str(), 1);
  }
  EXPECT_TRUE(outcome.exit_code == 0 || outcome.limit == LimitHit::disk);
  EXPECT_TRUE(fs::is_empty(place));
  fs::remove_all(place);
}

TEST_P(SandboxTest, CutsEndlessOutput) {
  const SandboxOutcome outcome = run("print");
  EXPECT_EQ(outcome.limit, LimitHit::output);
  EXPECT_EQ(outcome.output.size(), 4096U);
}

TEST_P(SandboxTest, EndsAProgramThatFillsItsTemporaryDirectory) {
  EXPECT_EQ(run("fill").limit, LimitHit::disk);
}

TEST_P(SandboxTest, EndsAProgramThatMakesCountlessFiles) {
  EXPECT_EQ(run("tiny_files").limit, LimitHit::disk);
}

TEST_P(SandboxTest, CallsATooLargeFileADiskLimit) {
  const SandboxOutcome outcome =
      run("fill", [](SandboxRequest& r) { r.limits.file_bytes = 1U << 20; });
  EXPECT_EQ(outcome.limit, LimitHit::disk);
}

TEST_P(SandboxTest, RunsOutOfDescriptorsWithoutHarm) {
  const SandboxOutcome outcome = run("descriptors");
  EXPECT_EQ(outcome.exit_code, 24);  // EMFILE
}

TEST_P(SandboxTest, GivesTheDescriptorsThatWereAskedForAndNoOthers) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  SandboxRequest request = request_for(GetParam(), {"descriptor_list", mark_});
  request.descriptors = {{pair[1], 3}, {pair[1], 9}};
  const SandboxOutcome outcome = run_sandboxed(request);
  EXPECT_EQ(outcome.output, "0 1 2 3 9\n");
  close(pair[0]);
  close(pair[1]);
}

// Wanted numbers that our own open files have: those that the sandbox itself needs later among
// them.
TEST_P(SandboxTest, GivesDescriptorsUnderNumbersThatAreTaken) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  SandboxRequest request = request_for(GetParam(), {"descriptor_list", mark_});
  std::string expected = "0 1 2";
  for (int number = 3; number < 40; ++number) {
    request.descriptors.push_back({pair[1], number});
    expected.append(" ").append(std::to_string(number));
  }
  EXPECT_EQ(run_sandboxed(request).output, expected + "\n");
  close(pair[0]);
  close(pair[1]);
}

TEST_P(SandboxTest, GivesNoEnvironmentButItsOwn) {
  setenv("ROOFLAB_TEST_SECRET", "hidden", 1);
  const SandboxOutcome outcome =
      run("environment", [](SandboxRequest& r) { r.environment["GIVEN"] = "yes"; });
  unsetenv("ROOFLAB_TEST_SECRET");
  EXPECT_THAT(outcome.output, HasSubstr("GIVEN=yes\n"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("ROOFLAB_TEST_SECRET")));
}

TEST_P(SandboxTest, KillsOnRequest) {
  SandboxedProcess process = SandboxedProcess::start(request_for(GetParam(), {"sleep", mark_}));
  EXPECT_FALSE(process.finished(0.05));
  process.kill();
  const SandboxOutcome outcome = process.wait();
  EXPECT_TRUE(outcome.killed_by_us);
  EXPECT_EQ(outcome.limit, LimitHit::none);
}

/// The only child of this process: the supervisor of the only sandbox.
pid_t only_child() {
  std::vector<pid_t> children;
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  EXPECT_EQ(children.size(), 1U);
  return children.empty() ? 0 : children.front();
}

TEST_P(SandboxTest, ASupervisorThatIsKilledIsNoFaultOfAProgramThatCannotReachIt) {
  SandboxedProcess process = SandboxedProcess::start(request_for(GetParam(), {"sleep", mark_}));
  const pid_t supervisor = only_child();
  ASSERT_GT(supervisor, 0);
  ::kill(supervisor, SIGKILL);
  const bool has_bubblewrap = std::ranges::count(active_layers(), "bubblewrap") > 0;
  if (GetParam() == Kind::strongest && has_bubblewrap) {
    EXPECT_THROW(static_cast<void>(process.wait()), SandboxError);
  } else {
    EXPECT_EQ(process.wait().signal, SIGKILL);
  }
}

/// Holds a process so that it is not gone when it is killed, as a driver does that cleans up after
/// it: it stays until whoever traces it has taken note. Only for the thread that made it.
class Held {
 public:
  explicit Held(pid_t process) : process_(process) {
    EXPECT_EQ(ptrace(PTRACE_SEIZE, process_, nullptr, nullptr), 0) << std::strerror(errno);
  }
  ~Held() { let_go(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  /// Waits until it has been killed, and lets it go after that.
  void let_go() {
    int status = 0;
    while (process_ > 0) {
      const pid_t seen = waitpid(process_, &status, __WALL);
      if (seen < 0 || WIFEXITED(status) || WIFSIGNALED(status)) process_ = 0;
      if (process_ > 0) ptrace(PTRACE_CONT, process_, nullptr, nullptr);
    }
  }

 private:
  pid_t process_;
};

/// The process that has this mark among its arguments: the program alone, when it runs.
pid_t marked_process(const std::string& mark) {
  for (int attempt = 0; attempt < 500; ++attempt) {
    for (const std::string& found : survivors(mark)) {
      std::error_code error;
      const fs::path image = fs::read_symlink("/proc/" + found + "/exe", error);
      if (image.filename() == "hostile_program") return static_cast<pid_t>(std::stol(found));
    }
    usleep(10'000);
  }
  ADD_FAILURE() << "the program does not run";
  return 0;
}

TEST_P(SandboxTest, WaitsForAProgramThatIsStillThereAfterItWasKilled) {
  SandboxedProcess process = SandboxedProcess::start(request_for(GetParam(), {"sleep", mark_}));
  Held held(marked_process(mark_));
  process.kill();
  EXPECT_FALSE(process.finished(2)) << "its memory is not free yet";
  held.let_go();
  const SandboxOutcome outcome = process.wait();
  EXPECT_TRUE(outcome.killed_by_us);
  EXPECT_GE(outcome.wall_s, 2);
}

TEST_P(SandboxTest, AProgramThatStaysAfterItWasKilledIsAFaultOfTheMachine) {
  SandboxRequest request = request_for(GetParam(), {"sleep", mark_});
  request.limits.wall_s = 0.3;
  request.limits.end_s = 1;
  SandboxedProcess process = SandboxedProcess::start(request);
  Held held(marked_process(mark_));
  std::string said;
  try {
    static_cast<void>(process.wait());
  } catch (const SandboxError& error) {
    said = error.what();
  }
  EXPECT_THAT(said, HasSubstr("still there 1 s after it had been killed"));
}

TEST_P(SandboxTest, EndsAProgramThatNobodyWaitsFor) {
  {
    const SandboxedProcess process =
        SandboxedProcess::start(request_for(GetParam(), {"sleep", mark_}));
  }
  EXPECT_TRUE(survivors(mark_).empty());
}

TEST_P(SandboxTest, OutlivesTheThreadThatStartedIt) {
  std::unique_ptr<SandboxedProcess> process;
  std::thread([&] {
    process = std::make_unique<SandboxedProcess>(
        SandboxedProcess::start(request_for(GetParam(), {"nap", mark_})));
  }).join();
  EXPECT_EQ(process->wait().exit_code, 5);
}

TEST_P(SandboxTest, LetsAProgramWriteWhereItMay) {
  std::string directory = fs::temp_directory_path() / "rooflab-sandbox-test-XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  SandboxRequest request = request_for(GetParam(), {"write", mark_, directory + "/made"});
  request.writable = {{directory, directory}};
  EXPECT_EQ(run_sandboxed(request).exit_code, 0);
  std::string text;
  std::ifstream(directory + "/made") >> text;
  EXPECT_EQ(text, "written");
  fs::remove_all(directory);
}

TEST_P(SandboxTest, SaysWhatToDoWhereTooFewFilesMayBeOpen) {
  run("greet");  // what is found out once, is
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  for (const rlim_t few : {20, 64, 130}) {
    rlimit limit = before;
    limit.rlim_cur = few;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    std::string said;
    try {
      run("greet");
    } catch (const SandboxError& error) {
      said = error.what();
    }
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_THAT(said, HasSubstr("ulimit -n")) << few;
  }
}

TEST_P(SandboxTest, RefusesAProgramThatIsNotThere) {
  SandboxRequest request = request_for(GetParam(), {});
  request.argv = {"no-such-program-anywhere"};
  EXPECT_THROW(run_sandboxed(request), SandboxError);
  request.argv = {program().string()};
  request.read_only.emplace_back("/no/such/path");
  EXPECT_THROW(run_sandboxed(request), SandboxError);
}

/// What only the sandboxes proper promise. Without bubblewrap the file system and signals are
/// Landlock's part, so a kernel that lacks it, or the version needed, cannot promise them.
class IsolationTest : public SandboxTest {
 protected:
  bool can_promise(int landlock_needed) const {
    const auto layers = active_layers();
    const bool bubblewrap = std::find(layers.begin(), layers.end(), "bubblewrap") != layers.end();
    return (GetParam() == Kind::strongest && bubblewrap) || landlock_version() >= landlock_needed;
  }
};

INSTANTIATE_TEST_SUITE_P(Layers, IsolationTest, testing::Values(Kind::strongest, Kind::fallback),
                         [](const auto& info) { return label_of(info.param); });

TEST_P(IsolationTest, HidesFilesThatWereNotListed) {
  if (!can_promise(1)) {
    GTEST_SKIP() << "this kernel has no Landlock";
  }
  const std::string secret = fs::temp_directory_path() / ("rooflab-secret-" + mark_);
  std::ofstream(secret) << "answer";
  SandboxRequest request = request_for(GetParam(), {"read", mark_, secret});
  EXPECT_EQ(run_sandboxed(request).output, "");
  request.read_only.emplace_back(secret);
  EXPECT_EQ(run_sandboxed(request).output, "answer\n");
  fs::remove(secret);
}

TEST_P(IsolationTest, CannotWriteElsewhere) {
  if (!can_promise(1) && geteuid() != 0) {
    GTEST_SKIP() << "the program has our user, and this kernel has no Landlock";
  }
  const std::string target = program().parent_path() / ("stray-" + mark_);
  SandboxRequest request = request_for(GetParam(), {"write", mark_, target});
  EXPECT_NE(run_sandboxed(request).exit_code, 0);
  EXPECT_FALSE(fs::exists(target));
}

// Landlock does not know these rights, and without one of its own the program has our user.
TEST_P(IsolationTest, CannotChangeModeTimesOrAttributesOfWhatItMayRead) {
  const fs::path file = fs::path(testing::TempDir()) / ("rooflab-read-only-" + mark_);
  std::ofstream(file) << "text";
  SandboxRequest request = request_for(GetParam(), {"change_file", mark_, file});
  request.read_only.emplace_back(file);
  EXPECT_EQ(run_sandboxed(request).output, "refused\n");
  fs::remove(file);
}

TEST_P(IsolationTest, HasNoNetwork) { EXPECT_EQ(run("network").output, "no network\n"); }

TEST_P(IsolationTest, CannotTraceMountMakeNamespacesOrHide) {
  EXPECT_EQ(run("privileges").output, "refused refused refused refused\n");
}

TEST_P(IsolationTest, CanSignalNeitherTheGraderNorEverybody) {
  if (!can_promise(6) && geteuid() != 0) {
    GTEST_SKIP() << "the program has our user, and this kernel's Landlock does not limit signals";
  }
  const SandboxOutcome outcome =
      run_sandboxed(request_for(GetParam(), {"signal_all", mark_, std::to_string(getpid())}));
  EXPECT_EQ(outcome.output, "cannot signal\n");
}

TEST(ActiveLayersTest, LimitsAloneDoNotIsolate) {
  EXPECT_TRUE(isolates({"bubblewrap", "own uid", "rlimits"}));
  EXPECT_TRUE(isolates({"seccomp", "landlock", "rlimits"}));
  EXPECT_FALSE(isolates({"landlock", "rlimits"}));
  EXPECT_FALSE(isolates({"own uid", "control groups", "rlimits", "watchdog"}));
  EXPECT_FALSE(isolates(active_layers(false)));
}

TEST(ActiveLayersTest, AlwaysHoldTheLimits) {
  EXPECT_THAT(active_layers(), Contains("rlimits"));
  EXPECT_THAT(active_layers(false), testing::IsSupersetOf({"rlimits", "watchdog"}));
  EXPECT_THAT(active_layers(false), Not(Contains("bubblewrap")));
}

}  // namespace
}  // namespace rooflab
