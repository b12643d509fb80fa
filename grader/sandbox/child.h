#pragma once

#include <linux/filter.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "grader/posix/descriptor.h"

namespace rooflab {

/// Everything that a sandboxed child does to itself between fork and exec, worked out beforehand: a
/// child of a program with threads may neither allocate nor lock.
struct ChildPlan {
  std::vector<std::string> argv;                 ///< argv[0] is a path
  std::vector<std::string> environment;          ///< "NAME=value"
  std::string working_directory;                 ///< empty: stays
  int output = -1;                               ///< becomes stdout and stderr
  std::vector<std::pair<int, int>> descriptors;  ///< ours -> the child's number
  std::vector<std::pair<int, rlimit>> limits;    ///< RLIMIT_… -> value
  std::vector<int> control_groups;               ///< cgroup.procs files to write "0" to
  uid_t user = 0;                                ///< 0: no change
  std::vector<gid_t> groups = {};                ///< with that user, beside its own
  int landlock = -1;                             ///< a rule set to enter
  std::vector<sock_filter> filter;               ///< a seccomp filter to enter
  bool no_new_privileges = true;
  bool drop_capabilities = false;  ///< root keeps its user id, and nothing of its power
};

/// A child of ours that starts the program and adopts its orphans. It stays until the program and
/// all that descends from it are gone, so that its process tree is the whole sandbox.
struct Supervisor {
  pid_t pid = -1;
  Descriptor ends;      ///< reads one ProgramEnd when the program ends
  Descriptor failures;  ///< reads a ChildFailure when it could not be started; closes when it was
};

/// Which step of starting failed, and with which errno.
struct ChildFailure {
  int error = 0;
  char step[32] = {};
};

/// Whether the limit on open files lets a child keep so many descriptors besides its own. It
/// inherits the limit, and could only say that it could not keep one. @throws SandboxError when not
void require_open_files(std::size_t descriptors);

/// Forks. The calling thread has to live as long as the supervisor, which dies with it.
/// @throws SandboxError when the machine is out of processes or descriptors.
Supervisor start_supervisor(const ChildPlan& plan);

}  // namespace rooflab
