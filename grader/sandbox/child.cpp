#include "grader/sandbox/child.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "grader/sandbox/sandbox.h"

namespace rooflab {
namespace {

// Where the child's descriptors wait while their final numbers may still be taken by others.
constexpr int kParkingNumber = 512;
constexpr unsigned kCloseOnExec = 1U << 2;  // CLOSE_RANGE_CLOEXEC

/// What the child needs as C strings and C arrays.
struct Prepared {
  const ChildPlan& plan;
  std::vector<char*> argv;
  std::vector<char*> environment;
  sock_fprog filter{};

  explicit Prepared(const ChildPlan& from) : plan(from) {
    for (const std::string& word : from.argv) {
      argv.push_back(const_cast<char*>(word.c_str()));
    }
    argv.push_back(nullptr);
    for (const std::string& word : from.environment) {
      environment.push_back(const_cast<char*>(word.c_str()));
    }
    environment.push_back(nullptr);
    filter.len = static_cast<unsigned short>(from.filter.size());
    filter.filter = const_cast<sock_filter*>(from.filter.data());
  }
};

// --- From here to the end of run_supervisor: only system calls, nothing that allocates or locks.
// ---

[[noreturn]] void fail(int failures, const char* step) {
  ChildFailure failure;
  failure.error = errno;
  std::strncpy(failure.step, step, sizeof(failure.step) - 1);
  [[maybe_unused]] const ssize_t written = write(failures, &failure, sizeof(failure));
  _exit(127);
}

void die_with_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(127);  // it died before the line above
  }
}

void reset_signals() {
  for (int signal_number = 1; signal_number < NSIG; ++signal_number) {
    signal(signal_number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Parks every descriptor high first, so that no final number is overwritten while it is still a
// source.
void arrange_descriptors(const ChildPlan& plan, int* failures) {
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int output = fcntl(plan.output, F_DUPFD_CLOEXEC, kParkingNumber);
  *failures = fcntl(*failures, F_DUPFD_CLOEXEC, kParkingNumber);
  int parked[16];
  const std::size_t count = std::min<std::size_t>(plan.descriptors.size(), 16);
  for (std::size_t i = 0; i < count; ++i) {
    parked[i] = fcntl(plan.descriptors[i].first, F_DUPFD_CLOEXEC, kParkingNumber);
    if (parked[i] < 0) {
      fail(*failures, "keeping a descriptor");
    }
  }
  if (syscall(SYS_close_range, 3U, ~0U, kCloseOnExec) != 0) {
    fail(*failures, "closing descriptors");
  }
  if (dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) {
    fail(*failures, "redirecting output");
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (dup2(parked[i], plan.descriptors[i].second) < 0) {
      fail(*failures, "keeping a descriptor");
    }
  }
}

void set_limits(const ChildPlan& plan, int failures) {
  for (const auto& [resource, wanted] : plan.limits) {
    const auto which = static_cast<__rlimit_resource>(resource);
    rlimit now{};
    getrlimit(which, &now);
    rlimit next = wanted;
    next.rlim_max = std::min(next.rlim_max, now.rlim_max);
    next.rlim_cur = std::min(next.rlim_cur, next.rlim_max);
    if (setrlimit(which, &next) != 0) {
      fail(failures, "setting a resource limit");
    }
  }
}

void drop_rights(const Prepared& prepared, int failures) {
  const ChildPlan& plan = prepared.plan;
  if (plan.user != 0 &&
      (setgroups(0, nullptr) != 0 || setresgid(plan.user, plan.user, plan.user) != 0 ||
       setresuid(plan.user, plan.user, plan.user) != 0)) {
    fail(failures, "changing the user");
  }
  if (plan.no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    fail(failures, "giving up privileges");
  }
  if (plan.landlock >= 0 && syscall(SYS_landlock_restrict_self, plan.landlock, 0) != 0) {
    fail(failures, "entering Landlock");
  }
  if (!plan.filter.empty() &&
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prepared.filter, 0, 0) != 0) {
    fail(failures, "entering seccomp");
  }
}

[[noreturn]] void run_program(const Prepared& prepared, int failures, pid_t supervisor) {
  const ChildPlan& plan = prepared.plan;
  setsid();
  arrange_descriptors(plan, &failures);
  for (const int group : plan.control_groups) {
    if (write(group, "0", 1) != 1) {
      fail(failures, "entering a control group");
    }
  }
  set_limits(plan, failures);
  drop_rights(prepared, failures);
  die_with_parent(supervisor);  // last, since a change of user clears it
  if (!plan.working_directory.empty() && chdir(plan.working_directory.c_str()) != 0) {
    fail(failures, "entering the working directory");
  }
  execve(prepared.argv[0], prepared.argv.data(), prepared.environment.data());
  fail(failures, "starting the program");
}

[[noreturn]] void run_supervisor(const Prepared& prepared, int ends, int failures, pid_t parent) {
  reset_signals();
  die_with_parent(parent);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t self = getpid();
  const pid_t program = _Fork();
  if (program < 0) {
    fail(failures, "forking");
  }
  if (program == 0) {
    run_program(prepared, failures, self);
  }
  // Keep nothing but the one pipe: a copy of any other would hide its end from those who wait for
  // it.
  dup2(ends, 3);
  syscall(SYS_close_range, 4U, ~0U, 0U);
  for (int number = 0; number < 3; ++number) {
    close(number);
  }
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended == program) {
      [[maybe_unused]] const ssize_t written = write(3, &status, sizeof(status));
    } else if (ended < 0 && errno != EINTR) {
      _exit(0);  // nobody is left
    }
  }
}

}  // namespace

Supervisor start_supervisor(const ChildPlan& plan) {
  const Prepared prepared(plan);
  int ends[2];
  int failures[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw SandboxError("cannot open a pipe for the sandbox: " + std::string(std::strerror(errno)) +
                       "; raise the limit on open files (ulimit -n)");
  }
  Supervisor supervisor;
  supervisor.ends = Descriptor(ends[0]);
  const Descriptor ends_writer(ends[1]);
  if (pipe2(failures, O_CLOEXEC) != 0) {
    throw SandboxError("cannot open a pipe for the sandbox: " + std::string(std::strerror(errno)) +
                       "; raise the limit on open files (ulimit -n)");
  }
  supervisor.failures = Descriptor(failures[0]);
  const Descriptor failures_writer(failures[1]);

  const pid_t self = getpid();
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours may run in the child
  supervisor.pid = _Fork();
  if (supervisor.pid == 0) {
    run_supervisor(prepared, ends_writer.get(), failures_writer.get(), self);
  }
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (supervisor.pid < 0) {
    throw SandboxError(
        "cannot start a process for the sandbox: " + std::string(std::strerror(error)) +
        "; end other programs or raise the limit on processes (ulimit -u)");
  }
  return supervisor;
}

}  // namespace rooflab
