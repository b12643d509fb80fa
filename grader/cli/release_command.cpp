#include "grader/cli/release_command.h"

#include <fmt/format.h>

#include <fstream>

#include "grader/author/release.h"
#include "grader/author/runtime_packages.h"
#include "grader/pipeline/grade.h"
#include "grader/pipeline/toolchain.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

/// The commit of the checkout, if git knows one: another commit is another kit.
std::string commit_of(const std::filesystem::path& root) {
  const auto git = [&](const std::vector<std::string>& words) {
    std::vector<std::string> command = {"git", "-C", root.string()};
    command.insert(command.end(), words.begin(), words.end());
    return run_tool(command);
  };
  try {
    // Untracked files of somebody's own make no other kit; what does is a change of what is
    // tracked.
    const bool changed = !git({"status", "--porcelain", "--untracked-files=no"}).empty();
    std::string commit = git({"rev-parse", "HEAD"});
    commit.erase(commit.find_last_not_of('\n') + 1);
    return fmt::format("commit    {}{}\n", commit, changed ? ", changed" : "");
  } catch (const ReleaseError&) {
    return "";
  }
}

std::string system_name() {
  std::ifstream file("/etc/os-release");
  const std::string key = "PRETTY_NAME=";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    std::erase(line, '"');
    return line.substr(key.size());
  }
  return "unknown";
}

std::string made_of(const Installation& installation) {
  const Toolchain toolchain = find_toolchain(installation);
  return fmt::format(
      "Rooflab {}, the student kit\n{}"
      "built on  {}, x86_64\n"
      "built by  {}; nvcc {}\n",
      ROOFLAB_VERSION, commit_of(installation.root), system_name(), toolchain.host_compiler,
      toolchain.release());
}

}  // namespace

int make_kit(std::ostream& out, const ReleaseOptions& options, const Installation& installation) {
  if (!options.out.ends_with(".tar.gz") && !options.out.ends_with(".tgz")) {
    throw UsageError("--out names an archive: let it end with .tar.gz");
  }
  const Release release = make_release({.root = installation.root,
                                        .build = installation.build,
                                        .out = options.out,
                                        .made_of = made_of(installation)});
  if (!release.leaks.empty()) {
    for (const Leak& leak : release.leaks) out << describe(leak) << '\n';
    out << fmt::format(
        "{} was not written: what is listed above would tell students what they are to find out. "
        "Paths are those of the kit; mend the files of the checkout that they come from.\n",
        options.out);
    return 1;
  }
  out << fmt::format(
      "{}: {} files, {}; nothing of solutions, hidden cases, answer keys and "
      "planted mistakes is in it\n",
      options.out, release.files, format_bytes(static_cast<double>(release.bytes)));
  return 0;
}

}  // namespace rooflab
