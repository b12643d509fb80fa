#include "simgpu/native/bounded_command.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

extern char** environ;  // NOLINT: POSIX names it

namespace simgpu::native {
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

/// Who ends this process with SIGKILL ends no child of it, and a death signal would reach the
/// compiler's driver and not the compiler proper. So a watcher in the command's process group ends
/// the group.
constexpr const char* kScript = R"(ulimit -t 60 -v 4194304
{ read -r line <&9; kill -KILL 0; } &
nice -n 10 "$@" 9<&-
status=$?
kill -KILL $!
exit $status)";

}  // namespace

bool run_bounded(const std::vector<std::string>& command, const char* output,
                 const std::atomic<bool>& stop) {
  std::vector<std::string> words{"sh", "-c", kScript, "sh"};
  words.insert(words.end(), command.begin(), command.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  const LifeLine life_line;
  if (!life_line.is_open()) return false;
  FileActions files;
  files.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  files.open(STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC);
  files.open(STDERR_FILENO, "/dev/null", O_WRONLY);
  files.duplicate(life_line.reader(), kLifeLine);
  const GroupAttribute group;
  pid_t child = -1;
  if (posix_spawn(&child, "/bin/sh", files.get(), group.get(), arguments.data(), environ) != 0) {
    return false;
  }
  const auto deadline = steady_clock::now() + std::chrono::minutes(1);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (stop.load() || steady_clock::now() > deadline) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace simgpu::native
