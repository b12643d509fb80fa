#include "grader/batch/execute/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "grader/batch/execute/watcher.h"
#include "grader/sandbox/process_tree.h"

namespace rooflab {
namespace {

// The watcher's own patience, and a little more.
constexpr int kEndingPatienceMs = 15'000;

[[noreturn]] void fail(const char* what) {
  throw ExecutorError(
      fmt::format("{}: {}; end other programs, or raise the limits on processes "
                  "(ulimit -u) and open files (ulimit -n)",
                  what, std::strerror(errno)));
}

std::pair<Descriptor, Descriptor> report_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("cannot open a pipe for a worker");
  Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  // The watcher has other uses for 0 to 2, which may be free in a program without a terminal.
  Descriptor above(fcntl(writer.get(), F_DUPFD_CLOEXEC, 3));
  if (!above.valid()) fail("cannot open a pipe for a worker");
  return {std::move(reader), std::move(above)};
}

/// No handler of ours may run in the child before it has put its own in place.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

std::string name_of_signal(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

}  // namespace

std::string sentence_of(const WorkerEnd& end, const Job& job) {
  switch (end.how) {
    case WorkerEnd::How::exited:
      return fmt::format("the worker ended with exit code {} and left no result", end.value);
    case WorkerEnd::How::signal:
      return fmt::format("the worker was ended by {}", name_of_signal(end.value));
    case WorkerEnd::How::time_limit:
      return fmt::format("the worker took longer than {:g} s and was ended", job.limit_s);
    case WorkerEnd::How::asked:
      return "the worker was ended with the batch";
    case WorkerEnd::How::not_started:
      return fmt::format("the worker could not be started: {}", std::strerror(end.value));
    case WorkerEnd::How::watcher_lost:
      break;
  }
  return "the process that watched the worker was killed, perhaps for lack of memory";
}

WorkerProcess::WorkerProcess(const std::vector<std::string>& command, const Job& job) {
  auto [reader, writer] = report_pipe();
  report_ = std::move(reader);
  const WatcherPlan plan{.command = command,
                         .log = job.folder / kLogFile,
                         .log_bytes = kLogBytes,
                         .limit_s = job.limit_s,
                         .report = writer.get(),
                         .parent = getpid()};
  descendants(getpid());  // what it remembers of the kernel must not be found out at the fork
  {
    const BlockedSignals blocked;
    watcher_ = fork();
    if (watcher_ == 0) run_watcher(plan);
  }
  if (watcher_ < 0) fail("cannot start a process for a worker");
  pidfd_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, watcher_, 0)));
  if (!pidfd_.valid()) {
    const int error = errno;
    end();
    waitpid(std::exchange(watcher_, -1), nullptr, 0);
    errno = error;
    fail("cannot watch a process of a worker");
  }
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : watcher_(std::exchange(other.watcher_, -1)),
      pidfd_(std::move(other.pidfd_)),
      report_(std::move(other.report_)) {}

WorkerProcess::~WorkerProcess() {
  if (watcher_ < 0) return;
  end();
  pollfd ended{pidfd_.get(), POLLIN, 0};
  if (poll(&ended, 1, kEndingPatienceMs) == 0) {
    kill_descendants(watcher_);
    kill(watcher_, SIGKILL);
  }
  wait();
}

void WorkerProcess::end() { kill(watcher_, SIGTERM); }

WorkerEnd WorkerProcess::wait() {
  while (waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) {
  }
  watcher_ = -1;
  WorkerEnd end;
  // The first word counts: a worker that could not be started says so, and exits then.
  fcntl(report_.get(), F_SETFL, O_NONBLOCK);
  if (read(report_.get(), &end, sizeof(end)) != sizeof(end)) return {};
  return end;
}

}  // namespace rooflab
