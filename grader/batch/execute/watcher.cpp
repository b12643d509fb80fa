#include "grader/batch/execute/watcher.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "grader/batch/execute/worker_process.h"
#include "grader/posix/descriptor.h"
#include "grader/posix/words.h"
#include "grader/sandbox/process_tree.h"

// Everything here runs in a fork that does not exec. It allocates, which the C library allows after
// its fork(), but touches nothing of the rest of the program.
namespace rooflab {
namespace {

using Clock = std::chrono::steady_clock;

// As long as ended processes may take to vanish. One that is stuck in the kernel never does.
constexpr std::chrono::seconds kEndingPatience{10};
constexpr unsigned kCloseOnExec = 1U << 2;  // CLOSE_RANGE_CLOEXEC

void report(int descriptor, WorkerEnd end) {
  [[maybe_unused]] const ssize_t written = write(descriptor, &end, sizeof(end));
}

void reset_signal_handlers() {
  for (int number = 1; number < NSIG; ++number) {
    signal(number, SIG_DFL);
  }
}

// The batch's database, pipes of other watchers: a copy of any of them here would keep it open.
void close_all_but(int kept) {
  syscall(SYS_close_range, 3U, static_cast<unsigned>(kept) - 1, 0U);
  syscall(SYS_close_range, static_cast<unsigned>(kept) + 1, ~0U, 0U);
}

void point_standard_streams_to_null() {
  const int null = open("/dev/null", O_RDWR);
  for (int number = 0; number < 3; ++number) {
    dup2(null, number);
  }
  if (null > 2) {
    close(null);
  }
}

[[noreturn]] void run_worker(const WatcherPlan& plan, std::vector<char*>& argv, int output,
                             pid_t watcher) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != watcher) {
    _exit(127);  // it died before the line above
  }
  dup2(output, 1);
  dup2(output, 2);
  syscall(SYS_close_range, 3U, ~0U, kCloseOnExec);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(argv[0], argv.data());
  report(plan.report, {WorkerEnd::How::not_started, errno});
  _exit(127);
}

/// What a worker prints, copied to a file up to a size. A limit on the size of files
/// (RLIMIT_FSIZE) would hold for the worker's own files too, and cutting the file afterwards would
/// let it fill the disk first.
class Log {
 public:
  Log(const std::filesystem::path& file, std::size_t room)
      : file_(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644)),
        room_(room) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) == 0) {
      reader_ = Descriptor(ends[0]);
      writer_ = Descriptor(ends[1]);
      fcntl(reader_.get(), F_SETFL, O_NONBLOCK);
    }
  }

  int reader() const { return reader_.get(); }
  int writer() const { return writer_.get(); }
  void close_writer() { writer_.reset(); }

  /// Copies what is there: a few reads only, since endless output must not keep us from the clock.
  void copy() {
    for (int reads = 0; reads < 16 && reader_.valid(); ++reads) {
      const ssize_t got = read(reader_.get(), buffer_.data(), buffer_.size());
      if (got == 0) {
        reader_.reset();
      }
      if (got <= 0) {
        return;
      }
      keep({buffer_.data(), static_cast<std::size_t>(got)});
    }
  }

 private:
  void keep(std::string_view text) {
    const std::size_t size = std::min(text.size(), room_);
    room_ -= size;
    write_all(text.substr(0, size));
    if (size < text.size() && !cut_) {
      cut_ = true;
      write_all("\n[what was printed after this was left out]\n");
    }
  }

  // A full disk costs the log, not the grade.
  void write_all(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = write(file_.get(), text.data(), text.size());
      if (written <= 0) {
        return;
      }
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  Descriptor file_;
  std::size_t room_;
  Descriptor reader_;
  Descriptor writer_;
  bool cut_ = false;
  std::array<char, 65536> buffer_{};
};

class Watcher {
 public:
  explicit Watcher(const WatcherPlan& plan)
      : plan_(plan), deadline_(deadline_of(plan.limit_s)), log_(plan.log, plan.log_bytes) {
    sigset_t watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGTERM);
    signals_ = Descriptor(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
    parent_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, plan.parent, 0)));
  }

  WorkerEnd run() {
    if (!signals_.valid() || !parent_.valid() || log_.reader() < 0) {
      return {WorkerEnd::How::not_started, errno};
    }
    if (getppid() != plan_.parent) {
      return {WorkerEnd::How::asked, 0};  // it died before we could watch it
    }
    std::vector<char*> argv = as_pointers(plan_.command);
    const pid_t self = getpid();
    worker_ = fork();
    if (worker_ < 0) {
      return {WorkerEnd::How::not_started, errno};
    }
    if (worker_ == 0) {
      run_worker(plan_, argv, log_.writer(), self);
    }
    log_.close_writer();
    const WorkerEnd end = watch();
    end_descendants();
    log_.copy();
    return end;
  }

 private:
  static std::optional<Clock::time_point> deadline_of(double limit_s) {
    if (limit_s <= 0) {
      return std::nullopt;
    }
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
  }

  WorkerEnd watch() {
    for (;;) {
      std::array<pollfd, 3> waits{
          {{signals_.get(), POLLIN, 0}, {parent_.get(), POLLIN, 0}, {log_.reader(), POLLIN, 0}}};
      poll(waits.data(), waits.size(), milliseconds_left());
      log_.copy();
      const bool asked = read_signals() || (waits[1].revents != 0);
      reap();
      if (status_) {
        return WIFSIGNALED(*status_) ? WorkerEnd{WorkerEnd::How::signal, WTERMSIG(*status_)}
                                     : WorkerEnd{WorkerEnd::How::exited, WEXITSTATUS(*status_)};
      }
      if (asked) {
        return {WorkerEnd::How::asked, 0};
      }
      if (deadline_ && Clock::now() >= *deadline_) {
        return {WorkerEnd::How::time_limit, 0};
      }
    }
  }

  int milliseconds_left() const {
    if (!deadline_) {
      return -1;
    }
    const double left =
        std::chrono::duration<double, std::milli>(*deadline_ - Clock::now()).count();
    return static_cast<int>(std::clamp(std::ceil(left), 0.0, 60'000.0));
  }

  bool read_signals() {
    bool asked = false;
    signalfd_siginfo one{};
    while (read(signals_.get(), &one, sizeof(one)) == sizeof(one)) {
      asked = asked || one.ssi_signo == SIGTERM;
    }
    return asked;
  }

  // Returns whether any child is left.
  bool reap() {
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended == worker_) {
        status_ = status;
      }
    }
    return ended == 0;
  }

  // Orphans become our children, so nobody is left when we have none. A stopped process cannot
  // fork: hence the stop first.
  void end_descendants() {
    const auto patience = Clock::now() + kEndingPatience;
    while (reap() && Clock::now() < patience) {
      const std::vector<pid_t> found = descendants(getpid());
      for (const int number : {SIGSTOP, SIGKILL}) {
        for (const pid_t process : found) {
          kill(process, number);
        }
      }
      log_.copy();
      usleep(1000);
    }
  }

  const WatcherPlan& plan_;
  std::optional<Clock::time_point> deadline_;
  Log log_;
  Descriptor signals_;
  Descriptor parent_;
  pid_t worker_ = -1;
  std::optional<int> status_;
};

}  // namespace

void run_watcher(const WatcherPlan& plan) {
  reset_signal_handlers();
  setsid();  // what the terminal sends to the batch is the batch's to answer
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  close_all_but(plan.report);
  point_standard_streams_to_null();
  report(plan.report, Watcher(plan).run());
  _exit(0);
}

}  // namespace rooflab
