// The first program inside bubblewrap: starts the one that was asked for, and writes how it ended
// to a descriptor of its own. bubblewrap itself passes on an exit code, in which signal 9 and
// exit(137) are the same.
//
//     await_program DESCRIPTOR PROGRAM [ARGUMENT ...]
//
// PROGRAM is a path. The guest may be of the same user and so reach into this process; what it
// could forge here is an end that it may choose anyway.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "grader/sandbox/program_end.h"

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

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return kCannotRun;
  const int descriptor = std::atoi(argv[1]);
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  report(descriptor, {rooflab::kStarted, 0});
  const pid_t program = fork();
  if (program == 0) {
    execv(argv[2], argv + 2);
    std::perror(argv[2]);
    _exit(kCannotRun);
  }
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
