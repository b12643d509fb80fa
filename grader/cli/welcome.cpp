#include "grader/cli/welcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "grader/cli/course_name.h"
#include "grader/cli/course_progress.h"
#include "grader/cli/devices.h"
#include "grader/cli/next_step.h"
#include "grader/cli/typed_commands.h"
#include "grader/cli/update_command.h"
#include "grader/device/open_device.h"
#include "grader/pipeline/installation.h"
#include "grader/pipeline/toolchain.h"
#include "grader/report/text.h"
#include "grader/spec/course_spec.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

/// The device that a grade would use, in words; what to do where there is none.
std::string device_words(const Installation& installation) {
  try {
    const Toolchain toolchain = find_toolchain(installation);
    DeviceOptions options = device_options(installation, toolchain, true);
    options.only_those = true;
    const auto device = open_device(course_spec_or_none(installation.labs()).device, options);
    return fmt::format("{} ({}), times are {}", device->id(), device->name(), device->time_kind());
  } catch (const std::exception& error) {
    return std::string("none yet: ") + error.what();
  }
}

std::string course_words(const Installation& installation) {
  const std::string name = course_name(installation);
  return name.empty() ? "Rooflab" : name;
}

/// When the part opens or is due, in a line of its own; empty where the course does not say.
std::string dates_line(const CourseSpec& course, int part) {
  const std::string dates = dates_in_words(dates_of(course, part), std::time(nullptr));
  return dates.empty() ? "" : "          " + dates + "\n";
}

std::string progress_words(const PartProgress& progress) {
  const auto counts = [](const TaskSpec& task) { return !task.bonus; };
  const auto of = std::ranges::count_if(progress.part.tasks, counts);
  if (!progress.last || progress.last->tasks.empty()) {
    return fmt::format("{:>10}  {} {}, none graded yet", "", of, of == 1 ? "task" : "tasks");
  }
  const auto passed = std::ranges::count_if(progress.last->tasks, [](const TaskResult& task) {
    return !task.bonus && task.verdict == Verdict::pass;
  });
  double points = 0;
  for (const TaskSpec& task : progress.part.tasks) {
    if (!task.bonus) points += maximum_points(task);
  }
  std::string words = fmt::format(
      "{:>10}  {} of {} tasks pass",
      fmt::format("{}/{}", format_points(progress.last->score()), format_points(points)), passed,
      of);
  if (progress.last->graded_later() > 0) {
    words += fmt::format(", {} points are graded after you hand in",
                         format_points(progress.last->graded_later()));
  }
  if (progress.last->bonus() > 0) {
    words += fmt::format(", {} bonus", format_points(progress.last->bonus()));
  }
  return words + fmt::format(", on {}", progress.last->device);
}

/// Where one stands on each ladder that has been begun.
void print_ladders(std::ostream& out, const PartProgress& progress) {
  if (!progress.last) return;
  for (const Ladder& ladder : progress.part.ladders) {
    const LadderState state = state_of(ladder, progress.last->tasks);
    if (state.done > 0) out << "          " << progress_words(ladder, state) << '\n';
  }
}

int lost(std::ostream& out, const std::string& why) {
  out << "Rooflab's grader: builds, runs and times the labs of the course, and explains what it "
         "finds.\n\n";
  print_wrapped(out, "  ", why);
  out << "  Then grader alone says where you are and what is next; grader --help lists "
         "everything.\n";
  return 0;
}

}  // namespace

int welcome(std::ostream& out) {
  try {
    Installation installation = find_installation();
    keep_kit_current(std::cerr, installation);
    const fs::path submission = installation.starter();
    const std::vector<PartProgress> course = course_progress(installation, submission);
    const CourseSpec spec = course_spec_or_none(installation.labs());
    std::size_t width = 0;
    for (const PartProgress& one : course) width = std::max(width, one.part.title.size());
    std::error_code error;
    out << course_words(installation) << '\n';
    out << fmt::format("  course      {}\n", installation.root.string());
    out << fmt::format("  submission  {}{}\n", typed_path(submission),
                       fs::is_directory(submission, error)
                           ? ""
                           : ", which is not there; name another with --submission");
    print_wrapped(out, "  device      ", device_words(installation));
    out << '\n';
    for (const PartProgress& progress : course) {
      out << fmt::format("  part {}  {:<{}}  {}\n", progress.part.number, progress.part.title,
                         width, progress_words(progress));
      out << dates_line(spec, progress.part.number);
      print_ladders(out, progress);
    }
    out << '\n';
    print_next_step(out, next_step(course, submission), submission);
    return 0;
  } catch (const InstallationError& failure) {
    return lost(out, failure.what());
  } catch (const SpecError& failure) {
    return lost(out, failure.what());
  }
}

}  // namespace rooflab
