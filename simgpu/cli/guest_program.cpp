#include "simgpu/cli/guest_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "simgpu/memory/descriptor.h"

namespace simgpu::cli {
namespace {

std::vector<std::string> environment_for(int device, const std::filesystem::path& libraries) {
  std::vector<std::string> variables;
  std::string search = libraries.string();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    if (variable.starts_with("SIMGPU_FD=")) continue;
    if (variable.starts_with("LD_LIBRARY_PATH=")) {
      search += ':';
      search.append(variable, std::strlen("LD_LIBRARY_PATH="));
      continue;
    }
    variables.push_back(variable);
  }
  variables.push_back("LD_LIBRARY_PATH=" + search);
  variables.push_back(fmt::format("SIMGPU_FD={}", device));
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Of this process, in the child.
void drop_outputs() {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
}

/// The signals that would end this process wait, so that they can be taken up one by one.
class AwaitedSignals {
 public:
  AwaitedSignals() {
    sigemptyset(&awaited_);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&awaited_, signal);
    sigprocmask(SIG_BLOCK, &awaited_, &before_);
  }
  ~AwaitedSignals() { restore(); }
  AwaitedSignals(const AwaitedSignals&) = delete;
  AwaitedSignals& operator=(const AwaitedSignals&) = delete;

  void restore() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

  /// The next signal, or 0 after a while without one.
  int next(siginfo_t* info) const {
    constexpr timespec kWhile{.tv_sec = 0, .tv_nsec = 200'000'000};
    const int signal = sigtimedwait(&awaited_, info, &kWhile);
    return signal < 0 ? 0 : signal;
  }

 private:
  sigset_t awaited_{}, before_{};
};

/// Waits for the program, and hands it the signals that would end this process.
ProgramEnd wait_for(pid_t child, const AwaitedSignals& signals) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kGrace{2};
  constexpr int kSignalBase = 128;
  int status = 0, interrupted_by = 0;
  Clock::time_point end = Clock::time_point::max();
  while (waitpid(child, &status, WNOHANG) != child) {
    siginfo_t info{};
    const int signal = signals.next(&info);
    if (signal != 0 && signal != SIGCHLD) {
      // What the terminal sends the program gets too; who asks again is in a hurry.
      if (interrupted_by != 0) {
        kill(child, SIGKILL);
      } else if (info.si_code != SI_KERNEL) {
        kill(child, signal);
      }
      interrupted_by = signal;
      end = Clock::now() + kGrace;
    }
    if (Clock::now() > end) kill(child, SIGKILL);
  }
  const bool by_signal = WIFSIGNALED(status);
  const int code = interrupted_by != 0 ? kSignalBase + interrupted_by
                   : by_signal         ? kSignalBase + WTERMSIG(status)
                                       : WEXITSTATUS(status);
  return {.code = code, .by_signal = by_signal, .interrupted = interrupted_by != 0};
}

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& command, int device,
                       const std::filesystem::path& libraries, bool silent) {
  Descriptor guest_end(device);
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = environment_for(device, libraries);
  const std::vector<char*> argv = pointers_to(arguments);
  const std::vector<char*> envp = pointers_to(variables);

  // The pipe tells of an exec that failed: it closes by itself when exec succeeds.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for starting the program");
  Descriptor failure_read(ends[0]), failure_write(ends[1]);
  const AwaitedSignals signals;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(fmt::format("fork: {}", std::strerror(errno)));
  if (child == 0) {
    signals.restore();
    fcntl(guest_end.get(), F_SETFD, 0);
    if (silent) drop_outputs();
    execvpe(argv[0], argv.data(), envp.data());
    const int reason = errno;
    [[maybe_unused]] const ssize_t count = write(failure_write.get(), &reason, sizeof reason);
    _exit(127);
  }
  failure_write.reset();
  guest_end.reset();
  int reason = 0;
  const bool failed = read(failure_read.get(), &reason, sizeof reason) == sizeof reason;
  const ProgramEnd end = wait_for(child, signals);
  if (failed) {
    throw std::runtime_error(
        fmt::format("{} cannot be started: {}", command.front(), std::strerror(reason)));
  }
  return end;
}

}  // namespace simgpu::cli
