#include "grader/cli/teaching/release_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <optional>

#include "grader/author/checkout.h"
#include "grader/author/release.h"
#include "grader/pipeline/grade.h"
#include "grader/pipeline/implementations.h"
#include "grader/pipeline/toolchain.h"
#include "grader/report/text.h"
#include "grader/spec/course_spec.h"

namespace rooflab {
namespace {

/// The course as students see it named: with the version that course.toml gives it, or else the
/// commit's day, with the commit where git knows one, and with the kit's own version.
std::string course_of(const std::filesystem::path& root) {
  const CourseSpec course = load_course_spec(root / "labs");
  const std::string version =
      course.version.empty() ? git(root, {"log", "-1", "--format=%cd", "--date=format:%Y-%m-%d"})
                             : course.version;
  const std::string commit = git(root, {"log", "-1", "--format=%h", "--abbrev=8"});
  return fmt::format("course    {}{}{}, kit @kit@\n", one_line(course.title),
                     version.empty() ? "" : ", version " + one_line(version),
                     commit.empty() ? "" : ", commit " + commit);
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

/// As `uname -m` has it, which scripts/setup of the kit asks.
std::string architecture() {
  utsname system{};
  uname(&system);
  return system.machine;
}

std::string made_of(const Installation& installation) {
  const Toolchain toolchain = find_toolchain(installation);
  const std::string commit = commit_of(installation.root);  // another commit is another kit
  return fmt::format(
      "Rooflab {}, the student kit\n{}{}"
      "built on  {}, {}\n"
      "built by  {}; nvcc {}\n",
      ROOFLAB_VERSION, course_of(installation.root),
      commit.empty() ? "" : fmt::format("commit    {}\n", commit), system_name(), architecture(),
      toolchain.host_compiler, toolchain.release());
}

/// The parts that the kit is asked for; none: all of them. @throws UsageError when none is open
std::vector<int> chosen_parts(const ReleaseOptions& options, const Installation& installation) {
  if (!options.open) return options.parts;
  const CourseSpec course = load_course_spec(installation.labs());
  const Moment at =
      options.at.empty() ? Moment{.seconds = std::time(nullptr)} : moment_of(options.at, "--at");
  std::vector<int> open;
  std::optional<Moment> next;
  for (const int number : list_parts(installation.labs())) {
    const PartDates dates = dates_of(course, number);
    if (dates.is_open(at.seconds)) {
      open.push_back(number);
    } else if (!next || dates.opens->seconds < next->seconds) {
      next = dates.opens;
    }
  }
  if (open.empty()) {
    throw UsageError(fmt::format(
        "no part is open at {} by the calendar of labs/course.toml, and the first opens {}; name "
        "a later time with --at, or parts with --part",
        text_of(at), text_of(next.value())));
  }
  return open;
}

void tell_mentions(std::ostream& out, const std::vector<std::string>& mentions) {
  constexpr std::size_t kShown = 10;
  if (mentions.empty()) return;
  out << "These lines still name parts that are not in the kit. Mark what belongs to a part as "
         "docs/authoring.md tells, <!-- with part 4 -->…<!-- end -->, or write it in other "
         "words:\n";
  for (std::size_t i = 0; i < std::min(kShown, mentions.size()); ++i) {
    out << "  " << mentions[i] << '\n';
  }
  if (mentions.size() > kShown) out << fmt::format("  and {} more\n", mentions.size() - kShown);
}

int count_hidden(const Installation& installation, const PartSpec& part, const TaskSpec& task) {
  const auto all = find_implementations(installation, part, task);
  return static_cast<int>(std::ranges::count(all, true, &Implementation::hidden));
}

}  // namespace

int make_kit(std::ostream& out, const ReleaseOptions& options, const Installation& installation) {
  if (!options.out.ends_with(".tar.gz") && !options.out.ends_with(".tgz")) {
    throw UsageError("--out names an archive: let it end with .tar.gz");
  }
  const Release release =
      make_release({.root = installation.root,
                    .build = installation.build,
                    .out = options.out,
                    .made_of = made_of(installation),
                    .parts = chosen_parts(options, installation),
                    .count_hidden = [&](const PartSpec& part, const TaskSpec& task) {
                      return count_hidden(installation, part, task);
                    }});
  if (!release.leaks.empty()) {
    for (const Leak& leak : release.leaks) out << describe(leak) << '\n';
    out << fmt::format(
        "{} was not written: what is listed above would tell students what they are to find out. "
        "Paths are those of the kit; mend the files of the checkout that they come from.\n",
        options.out);
    return 1;
  }
  out << fmt::format(
      "{}: {} {}, {} files, {}; nothing of solutions, hidden cases, answer keys and "
      "planted mistakes is in it\n",
      options.out, release.parts.size() == 1 ? "part" : "parts", fmt::join(release.parts, ", "),
      release.files, format_bytes(static_cast<double>(release.bytes)));
  tell_mentions(out, release.mentions);
  return 0;
}

}  // namespace rooflab
