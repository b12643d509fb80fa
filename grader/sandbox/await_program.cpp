// The first program inside bubblewrap: starts the one that was asked for, with fewer rights, and
// writes how it ended to a descriptor of its own. bubblewrap itself passes on an exit code, in
// which signal 9 and exit(137) are the same.
//
//     await_program DESCRIPTOR USER GROUPS PROCESSES PROGRAM [ARGUMENT ...]
//
// USER is a number, the program's user and group, and GROUPS those that it has beside them, as in
// 44,109; "-" keeps the user. PROCESSES is how many that user may have, "-" for no limit. It is
// set inside, where the count begins at zero. PROGRAM is a path. The guest may be of the same user
// and so reach into this process; what it could forge here is an end that it may choose anyway.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "grader/sandbox/program_end.h"
#include "grader/sandbox/rights.h"

namespace {

using rooflab::ProgramEnd;

constexpr int kCannotRun = 127;  // as from a shell

void report(int descriptor, const ProgramEnd& end) {
  [[maybe_unused]] const ssize_t written = write(descriptor, &end, sizeof(end));
}

// Whoever reads the program's output, or talks to it, has to see when it closes its end.
void close_all_but(int kept) {
  const auto number = static_cast<unsigned>(kept);
  syscall(SYS_close_range, 0U, number - 1, 0U);
  syscall(SYS_close_range, number + 1, ~0U, 0U);
}

bool is_given(const char* word) { return std::string_view(word) != "-"; }

bool limit_processes(const char* most) {
  const rlim_t count = std::strtoul(most, nullptr, 10);
  const rlimit limit{count, count};
  return setrlimit(RLIMIT_NPROC, &limit) == 0;
}

// The groups of "44,109", at most as many as fit.
std::size_t groups_of(const char* word, gid_t* groups, std::size_t most) {
  std::size_t count = 0;
  while (*word != '\0' && count < most) {
    char* end = nullptr;
    groups[count++] = static_cast<gid_t>(std::strtoul(word, &end, 10));
    word = *end == ',' ? end + 1 : end;
  }
  return count;
}

// Leaves nothing of root's rights, and no way to get them back.
bool become(const char* user, const char* groups) {
  constexpr std::size_t kMostGroups = 64;
  gid_t kept[kMostGroups];
  const std::size_t count = groups_of(groups, kept, kMostGroups);
  const auto id = static_cast<uid_t>(std::strtoul(user, nullptr, 10));
  rooflab::empty_bounding_set();
  return rooflab::change_user(id, std::span(kept, count)) && rooflab::give_up_capabilities() &&
         prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

[[noreturn]] void run(char** argv) {
  const char* const user = argv[2];
  if (is_given(argv[4]) && !limit_processes(argv[4])) {
    std::perror("setting the limit on processes");
  } else if (is_given(user) && !become(user, argv[3])) {
    std::perror("changing the user");
  } else {
    execv(argv[5], argv + 5);
    std::perror(argv[5]);
  }
  _exit(kCannotRun);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return kCannotRun;
  const int descriptor = std::atoi(argv[1]);
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  report(descriptor, {rooflab::kStarted, 0});
  const pid_t program = fork();
  if (program == 0) run(argv);
  if (program < 0) {
    std::perror("fork");
    return kCannotRun;
  }
  close_all_but(descriptor);
  int status = 0;
  rusage used{};
  while (wait4(program, &status, 0, &used) < 0 && errno == EINTR) {
  }
  report(descriptor, rooflab::program_end(status, used));
  return 0;
}
