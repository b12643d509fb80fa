#include "simgpu/toolchain/bounded_command.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

extern char** environ;  // NOLINT: POSIX names it

namespace simgpu::toolchain {
namespace {

using std::chrono::steady_clock;

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  void open(int descriptor, const char* path, int mode) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, path, mode, 0600);
  }
  void duplicate(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

class GroupAttribute {
 public:
  GroupAttribute() {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
  }
  ~GroupAttribute() { posix_spawnattr_destroy(&attributes_); }
  GroupAttribute(const GroupAttribute&) = delete;
  GroupAttribute& operator=(const GroupAttribute&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

/// A pipe that nobody writes to: its reader learns when this process is gone.
class LifeLine {
 public:
  LifeLine() : is_open_(pipe2(ends_.data(), O_CLOEXEC) == 0) {}
  ~LifeLine() {
    if (!is_open_) return;
    close(ends_[0]);
    close(ends_[1]);
  }
  LifeLine(const LifeLine&) = delete;
  LifeLine& operator=(const LifeLine&) = delete;
  bool is_open() const { return is_open_; }
  int reader() const { return ends_[0]; }

 private:
  std::array<int, 2> ends_{-1, -1};
  bool is_open_;
};

constexpr int kLifeLine = 9;  // not among the first descriptors, which the pipe itself may have

/// Who ends this process with SIGKILL ends no child of it, and a death signal would reach what runs
/// the compiler and not the compiler itself. So a watcher in the command's process group ends the
/// group. The first four words are the bounds and the folder.
constexpr const char* kScript = R"(ulimit -t "$1" && ulimit -v "$2" && ulimit -f "$3" || exit 126
cd "$4" || exit 126
shift 4
{ read -r line <&9; kill -KILL 0; } &
"$@" 9<&-
status=$?
kill -KILL $!
exit $status)";

/// A shell's exit code for a signal that ended its command: 128 and the signal.
constexpr int kSignalled = 128;
constexpr int kLastSignal = 64;

std::vector<std::string> script_words(const Command& command) {
  constexpr std::uint64_t kKibibyte = 1024, kFileUnit = 512;  // of ulimit -v and -f
  const Bounds& bounds = command.bounds;
  std::vector<std::string> words{"sh",
                                 "-c",
                                 kScript,
                                 "sh",
                                 std::to_string(bounds.processor_seconds),
                                 std::to_string(bounds.memory_bytes / kKibibyte),
                                 std::to_string(bounds.file_bytes / kFileUnit),
                                 command.folder.empty() ? "." : command.folder.string()};
  words.insert(words.end(), command.words.begin(), command.words.end());
  return words;
}

CommandEnd end_of(int status) {
  if (!WIFEXITED(status)) return {.stopped = true};
  const int code = WEXITSTATUS(status);
  if (code > kSignalled && code <= kSignalled + kLastSignal) return {.stopped = true};
  return {.exit_code = code};
}

}  // namespace

CommandEnd run_bounded(const Command& command) {
  std::vector<std::string> words = script_words(command);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  constexpr int kNotRun = 126;
  const LifeLine life_line;
  if (!life_line.is_open()) return {.exit_code = kNotRun};
  FileActions files;
  files.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  files.open(STDOUT_FILENO, command.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  if (command.errors == command.output) {
    files.duplicate(STDOUT_FILENO, STDERR_FILENO);
  } else {
    files.open(STDERR_FILENO, command.errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  }
  files.duplicate(life_line.reader(), kLifeLine);
  const GroupAttribute group;
  pid_t child = -1;
  if (posix_spawn(&child, "/bin/sh", files.get(), group.get(), arguments.data(), environ) != 0) {
    return {.exit_code = kNotRun};
  }
  const auto deadline = steady_clock::now() + std::chrono::seconds(command.bounds.elapsed_seconds);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (steady_clock::now() > deadline) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      return {.stopped = true};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return end_of(status);
}

}  // namespace simgpu::toolchain
