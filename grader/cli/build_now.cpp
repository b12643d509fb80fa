#include "grader/cli/build_now.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <vector>

#include "grader/posix/words.h"
#include "grader/spec/part.h"

namespace rooflab {

namespace fs = std::filesystem;

namespace {

bool is_build_tree(const fs::path& folder) { return fs::exists(folder / "CMakeCache.txt"); }

/// Whether the program ended well. Its output goes where our errors go: ours may be a report.
bool run_aloud(const std::vector<std::string>& words) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = -1;
  const int error = posix_spawnp(&child, words.front().c_str(), &actions, nullptr,
                                 as_pointers(words).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

void build_now(const Installation& installation, const std::string& target,
               const std::string& what) {
  const fs::path& build = installation.build;
  if (!is_build_tree(build)) {
    throw InstallationError(fmt::format("this copy of the course has no {}", what));
  }
  std::cerr << fmt::format("grader: building {}, once\n", what);
  if (run_aloud({"cmake", "--build", build.string(), "--target", target})) return;
  throw InstallationError(
      fmt::format("cannot build {}; after mending what is said above, run "
                  "cmake --build {} --target {}",
                  what, build.string(), target));
}

void build_part_now(const Installation& installation, int part) {
  if (!is_build_tree(installation.build)) return;
  const std::string folder =
      load_part(installation.labs(), installation.solutions(), part).directory;
  if (fs::exists(installation.oracle_library(folder)) ||
      !fs::is_directory(installation.labs() / folder / "oracle")) {
    return;
  }
  build_now(installation, folder, fmt::format("Part {}", part));
}

}  // namespace rooflab
