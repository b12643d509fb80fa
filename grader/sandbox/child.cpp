#include "grader/sandbox/child.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "grader/posix/words.h"
#include "grader/sandbox/program_end.h"
#include "grader/sandbox/rights.h"
#include "grader/sandbox/sandbox.h"

namespace rooflab {
namespace {

// Where the child's descriptors wait while their final numbers may still be taken by others: above
// every final number, and below any limit on open files.
constexpr int kParkingNumber = 128;
constexpr unsigned kCloseOnExec = 1U << 2;  // CLOSE_RANGE_CLOEXEC

/// What the child needs as C strings and C arrays.
struct Prepared {
  const ChildPlan& plan;
  std::vector<char*> argv;
  std::vector<char*> environment;
  std::vector<int> parked;  ///< room for a number for each of the plan's descriptors
  sock_fprog filter{};

  explicit Prepared(const ChildPlan& from)
      : plan(from),
        argv(as_pointers(from.argv)),
        environment(as_pointers(from.environment)),
        parked(from.descriptors.size(), -1) {
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

int park(int descriptor, int failures) {
  const int parked = fcntl(descriptor, F_DUPFD_CLOEXEC, kParkingNumber);
  if (parked < 0) {
    fail(failures, "keeping a descriptor");
  }
  return parked;
}

/// The child's own descriptors once arrange_descriptors has moved them out of the program's way.
struct OwnDescriptors {
  int failures = -1;
  int landlock = -1;
};

// Parks every descriptor high first, so that no final number is overwritten while it is still a
// source, and those that the child needs later too.
OwnDescriptors arrange_descriptors(Prepared& prepared, int failures) {
  const ChildPlan& plan = prepared.plan;
  OwnDescriptors own;
  own.failures = park(failures, failures);
  const int null = park(open("/dev/null", O_RDONLY | O_CLOEXEC), own.failures);
  const int output = park(plan.output, own.failures);
  if (plan.landlock >= 0) {
    own.landlock = park(plan.landlock, own.failures);
  }
  for (std::size_t i = 0; i < prepared.parked.size(); ++i) {
    prepared.parked[i] = park(plan.descriptors[i].first, own.failures);
  }
  if (syscall(SYS_close_range, 3U, ~0U, kCloseOnExec) != 0) {
    fail(own.failures, "closing descriptors");
  }
  if (dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) {
    fail(own.failures, "redirecting output");
  }
  for (std::size_t i = 0; i < prepared.parked.size(); ++i) {
    if (dup2(prepared.parked[i], plan.descriptors[i].second) < 0) {
      fail(own.failures, "keeping a descriptor");
    }
  }
  return own;
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

// After this an exec gives root nothing back: the bounding set is empty and user 0 is nobody
// special.
void drop_capabilities(int failures) {
  constexpr unsigned long kBits =
      SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED;
  prctl(PR_SET_SECUREBITS, kBits, 0, 0, 0);  // may be denied already; the empty sets below decide
  empty_bounding_set();
  if (syscall(SYS_setgroups, 0, nullptr) != 0 || !give_up_capabilities()) {
    fail(failures, "giving up capabilities");
  }
}

void drop_rights(const Prepared& prepared, const OwnDescriptors& own) {
  const ChildPlan& plan = prepared.plan;
  if (plan.user != 0 && !change_user(plan.user, plan.groups)) {
    fail(own.failures, "changing the user");
  }
  if (plan.drop_capabilities) {
    drop_capabilities(own.failures);
  }
  if (plan.no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    fail(own.failures, "giving up privileges");
  }
  if (own.landlock >= 0 && syscall(SYS_landlock_restrict_self, own.landlock, 0) != 0) {
    fail(own.failures, "entering Landlock");
  }
  if (!plan.filter.empty() &&
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prepared.filter, 0, 0) != 0) {
    fail(own.failures, "entering seccomp");
  }
}

[[noreturn]] void run_program(Prepared& prepared, int failures, pid_t supervisor) {
  const ChildPlan& plan = prepared.plan;
  setsid();
  for (const int group : plan.control_groups) {
    if (write(group, "0", 1) != 1) {
      fail(failures, "entering a control group");
    }
  }
  const OwnDescriptors own = arrange_descriptors(prepared, failures);
  set_limits(plan, own.failures);
  drop_rights(prepared, own);
  die_with_parent(supervisor);  // last, since a change of user clears it
  if (!plan.working_directory.empty() && chdir(plan.working_directory.c_str()) != 0) {
    fail(own.failures, "entering the working directory");
  }
  execve(prepared.argv[0], prepared.argv.data(), prepared.environment.data());
  fail(own.failures, "starting the program");
}

[[noreturn]] void run_supervisor(Prepared& prepared, int ends, int failures, pid_t parent) {
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
    rusage used{};
    const pid_t ended = wait4(-1, &status, 0, &used);
    if (ended == program) {
      const ProgramEnd end = program_end(status, used);
      [[maybe_unused]] const ssize_t written = write(3, &end, sizeof(end));
    } else if (ended < 0 && errno != EINTR) {
      _exit(0);  // nobody is left
    }
  }
}

}  // namespace

void require_open_files(std::size_t descriptors) {
  constexpr rlim_t kOthers = 8;  // pipes, /dev/null, a rule set
  const rlim_t needed = kParkingNumber + kOthers + descriptors;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  throw SandboxError("the sandbox needs " + std::to_string(needed) +
                     " open files, and the limit is " + std::to_string(limit.rlim_cur) +
                     "; raise it, as by ulimit -n 1024");
}

Supervisor start_supervisor(const ChildPlan& plan) {
  require_open_files(plan.descriptors.size());
  Prepared prepared(plan);
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
