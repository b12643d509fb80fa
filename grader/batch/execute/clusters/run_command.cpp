#include "grader/batch/execute/clusters/run_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "grader/batch/execute/executor.h"
#include "grader/posix/descriptor.h"
#include "grader/posix/words.h"

namespace rooflab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLongestWaitMs = 100;

/// One of the program's two outputs.
struct Stream {
  Descriptor reader;
  Descriptor writer;

  Stream() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      throw ExecutorError(
          fmt::format("cannot open a pipe: {}; raise the limit on open files (ulimit "
                      "-n)",
                      std::strerror(errno)));
    }
    reader = Descriptor(ends[0]);
    writer = Descriptor(ends[1]);
    fcntl(reader.get(), F_SETFL, O_NONBLOCK);
  }

  void read_into(std::string& text, std::size_t limit) {
    std::array<char, 65536> buffer;
    while (reader.valid() && text.size() <= limit) {
      const ssize_t got = read(reader.get(), buffer.data(), buffer.size());
      if (got == 0) reader.reset();
      if (got <= 0) return;
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
};

/// What posix_spawn wants to know of descriptors and signals.
class SpawnPlan {
 public:
  SpawnPlan(int output, int errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, 1);
    posix_spawn_file_actions_adddup2(&actions_, errors, 2);
    posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    // A group of its own: what the terminal sends to the batch must not break off a submission.
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  int spawn(const std::vector<std::string>& command, const std::vector<std::string>& environment,
            pid_t& process) const {
    return posix_spawnp(&process, command.front().c_str(), &actions_, &attributes_,
                        as_pointers(command).data(), as_pointers(environment).data());
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

CommandOutcome run_command(const std::vector<std::string>& command,
                           const std::vector<std::string>& environment, const CommandLimits& limits,
                           const std::function<bool()>& idle) {
  Stream output;
  Stream errors;
  pid_t process = -1;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limits.time);
  const int error =
      SpawnPlan(output.writer.get(), errors.writer.get()).spawn(command, environment, process);
  if (error != 0) {
    throw ExecutorError(fmt::format("cannot start {}: {}; check that it is installed and in PATH",
                                    command.front(), std::strerror(error)));
  }
  output.writer.reset();
  errors.writer.reset();
  const Descriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));

  CommandOutcome outcome;
  for (bool must_end = false; !must_end && !outcome.ended;) {
    std::array<pollfd, 3> waits{{{pidfd.get(), POLLIN, 0},
                                 {output.reader.get(), POLLIN, 0},
                                 {errors.reader.get(), POLLIN, 0}}};
    poll(waits.data(), waits.size(), kLongestWaitMs);
    outcome.ended = waits[0].revents != 0;
    output.read_into(outcome.output, limits.output_bytes);
    errors.read_into(outcome.errors, limits.output_bytes);
    const bool too_much =
        outcome.output.size() > limits.output_bytes || outcome.errors.size() > limits.output_bytes;
    outcome.ended = outcome.ended && !too_much;
    must_end = too_much || Clock::now() >= deadline || idle();
  }
  kill(-process, SIGKILL);  // what it left behind, too
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  outcome.exit_code = code_of(status);
  return outcome;
}

}  // namespace rooflab
