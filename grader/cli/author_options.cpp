#include "grader/cli/author_options.h"

#include <CLI/CLI.hpp>

#include "grader/author/verify/claim.h"
#include "grader/spec/part.h"

namespace rooflab {
namespace {

std::vector<std::string> names_of_proofs() {
  std::vector<std::string> names;
  for (const verify::Proof proof : verify::kProofs) names.emplace_back(verify::name_of(proof));
  return names;
}

}  // namespace

void add_verify_options(CLI::App& command, VerifyOptions& options) {
  command.add_option("--part", options.parts, "Only this part; may be given several times")
      ->check(CLI::Range(0, kLastPart))
      ->allow_extra_args(false);
  command
      .add_option(
          "--gpu", options.gpus,
          "Only on this GPU, a file of specs/gpus; may be given several times (default: those "
          "of labs/course.toml)")
      ->allow_extra_args(false);
  command
      .add_option("--only", options.proofs, "Only proofs of this kind; may be given several times")
      ->check(CLI::IsMember(names_of_proofs()))
      ->allow_extra_args(false);
  command
      .add_option("--mistake", options.mistakes,
                  "Only this planted mistake, a folder of labs/<part>/mistakes; may be given "
                  "several times")
      ->allow_extra_args(false);
  command
      .add_option("--right", options.right,
                  "Only this right submission, a folder of labs/<part>/right; may be given several "
                  "times")
      ->allow_extra_args(false);
  command.add_option("--json", options.json, "Write the matrix as JSON; - for standard output");
  command.add_option("--jobs", options.jobs, "Gradings at a time (default: one per CPU)")
      ->check(CLI::Range(1, 1024));
}

void add_release_options(CLI::App& command, ReleaseOptions& options) {
  command.add_option("--out", options.out, "The archive, as in kit.tar.gz")->required();
  auto* part =
      command.add_option("--part", options.parts, "Only this part; may be given several times")
          ->check(CLI::Range(0, kLastPart))
          ->allow_extra_args(false);
  auto* open = command.add_flag("--open", options.open,
                                "Only the parts that are open by the calendar of labs/course.toml");
  command
      .add_option("--at", options.at,
                  "With --open: at this time, as in 2027-02-15T08:00:00+01:00 (default: now)")
      ->needs(open);
  open->excludes(part);
}

void add_new_part_options(CLI::App& command, NewPartOptions& options) {
  command.add_option("NAME", options.name, "Of its folder, as in part6-sorting")->required();
  command.add_option("--title", options.title, "Its title (default: made from the name)");
}

void add_calibrate_options(CLI::App& command, CalibrateOptions& options) {
  command.add_option("--device", options.device, "auto, cuda[:index] or sim[:gpu]")
      ->capture_default_str();
  command.add_option("--out", options.out,
                     "The file to write (default: beside the GPU's own in specs/gpus)");
}

void add_compare_times_options(CLI::App& command, CompareTimesOptions& options) {
  command.add_option("FILES", options.files,
                     "Files of measured times (default: all of specs/measured)");
  auto* measure = command.add_flag("--measure", options.measure,
                                   "Time every kernel on a GPU, and write such a file");
  command.add_option("--device", options.device, "To measure on: cuda[:index]")
      ->capture_default_str()
      ->needs(measure);
  command
      .add_option("--out", options.out,
                  "The file to write (default: specs/measured/<gpu>/<date>-<GPU>.toml)")
      ->needs(measure);
  command.add_option("--part", options.parts, "Only this part; may be given several times")
      ->check(CLI::Range(0, kLastPart))
      ->allow_extra_args(false);
  command
      .add_option("--jobs", options.jobs, "Gradings on simulated GPUs at a time (default: CPUs)")
      ->check(CLI::Range(1, 1024));
  command.add_option("--json", options.json, "Write the comparison as JSON; - for standard output")
      ->excludes(measure);
}

void add_targets_options(CLI::App& command, TargetsOptions& options) {
  auto* measure = command.add_flag(
      "--measure", options.measure,
      "Measure what is missing in targets.toml, and what other sources were measured of");
  command.add_flag("--all", options.all, "Measure what is known as well")->needs(measure);
  command.add_option("--part", options.parts, "Only this part; may be given several times")
      ->check(CLI::Range(0, kLastPart))
      ->allow_extra_args(false);
  command.add_option("--task", options.tasks, "Only this task; may be given several times")
      ->allow_extra_args(false);
  command
      .add_option("--gpu", options.gpus,
                  "Only on this GPU; may be given several times (default: all of specs/gpus)")
      ->allow_extra_args(false);
}

}  // namespace rooflab
