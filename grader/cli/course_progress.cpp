#include "grader/cli/course_progress.h"

#include <fmt/format.h>

#include <utility>

#include "grader/cli/kept_runs.h"
#include "grader/cli/typed_commands.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

constexpr std::size_t kLineWidth = 96;

}  // namespace

std::vector<PartProgress> course_progress(const Installation& installation,
                                          const std::filesystem::path& submission) {
  const KeptRuns runs(installation.cache, submission);
  std::vector<PartProgress> course;
  for (PartSpec& part : load_parts(installation.labs(), installation.solutions())) {
    auto latest = runs.latest(part.number);
    course.push_back({std::move(part), std::move(latest)});
  }
  return course;
}

void print_wrapped(std::ostream& out, const std::string& first, const std::string& text) {
  std::string indent = first;
  for (const std::string& line : wrap(text, kLineWidth - first.size())) {
    out << indent << line << '\n';
    indent.assign(first.size(), ' ');
  }
}

void print_next_step(std::ostream& out, const std::optional<NextStep>& step,
                     const std::filesystem::path& submission, const std::string& flag) {
  const std::string grader = typed_program();
  if (!step) {
    out << "Everything has all of its points. " << grader << " --help says what else there is.\n";
    return;
  }
  out << fmt::format("Next: part {}, task {}\n", step->part, step->task);
  print_wrapped(out, "  ", fmt::format("{}: {}", typed_path(submission / step->place), step->why));
  const std::string command =
      fmt::format("{} --part {} --task {}{}", grader, step->part, step->task, flag);
  out << fmt::format("  {}  {}\n", step->grade ? "run " : "then", command);
  out << fmt::format("  hint  {} --hint\n", command);
}

}  // namespace rooflab
