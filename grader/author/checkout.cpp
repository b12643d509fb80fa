#include "grader/author/checkout.h"

#include "grader/author/kit_update.h"
#include "grader/author/release.h"
#include "grader/author/runtime_packages.h"

namespace rooflab {

std::string git(const std::filesystem::path& root, const std::vector<std::string>& words) {
  std::vector<std::string> command = {"git", "-C", root.string()};
  command.insert(command.end(), words.begin(), words.end());
  try {
    std::string said = run_tool(command);
    said.erase(said.find_last_not_of('\n') + 1);
    return said;
  } catch (const ReleaseError&) {
    return "";
  }
}

std::string commit_of(const std::filesystem::path& root) {
  // A kit may lie in a repository of its student's, whose commits say nothing.
  if (!course_of_kit(root).empty()) return commit_of_kit(root);
  const std::string commit = git(root, {"rev-parse", "HEAD"});
  if (commit.empty()) return "";
  // Untracked files of somebody's own make no other course; what does is a change of what is
  // tracked.
  const bool changed = !git(root, {"status", "--porcelain", "--untracked-files=no"}).empty();
  return commit + (changed ? ", changed" : "");
}

}  // namespace rooflab
