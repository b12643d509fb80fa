#include "grader/author/compare_times/time_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "grader/author/verify/grading_command.h"
#include "grader/author/verify/mistake.h"
#include "grader/author/verify/ran.h"
#include "grader/author/verify/runner.h"
#include "grader/spec/files.h"
#include "grader/spec/fnv1a.h"

namespace rooflab::compare_times {
namespace {

/// One command to run: all tasks of a solution, or the one of a planted mistake.
struct Submission {
  const PartSpec* part;
  std::optional<verify::Mistake> mistake = {};

  std::string name() const { return mistake ? mistake->name : "solution"; }
};

std::vector<Submission> submissions_of(const TimingPlan& plan) {
  std::vector<Submission> all;
  for (const PartSpec& part : plan.parts) {
    all.push_back({.part = &part});
    for (verify::Mistake& mistake : verify::load_mistakes(part)) {
      if (mistake.verdict == Verdict::pass) all.push_back({&part, std::move(mistake)});
    }
  }
  return all;
}

/// Where the submission's files lie; a mistake's are written to `folder`.
std::filesystem::path place(const Submission& submission, const TimingPlan& plan,
                            const std::filesystem::path& folder) {
  auto solutions = plan.installation.solutions();
  if (!submission.mistake) return solutions;
  write_submission(*submission.mistake, *submission.part, solutions, folder);
  return folder;
}

std::string digest(const PartSpec& part, const TaskSpec& task, const SpeedSpec& speed,
                   const std::filesystem::path& folder) {
  std::string text;
  for (const std::string& name : verify::files_of(part, task)) text += read_file(folder / name);
  return fmt::format("{:016x}", fnv1a(text + text_of(speed.parameters)));
}

Times take_times(const verify::Ran& ran, const Submission& submission, const TimingPlan& plan) {
  if (ran.document.is_null()) {
    const std::string why = ran.end.empty() ? fmt::format("exit code {}", ran.exit_code) : ran.end;
    return {.left_out = {{fmt::format("{}/*/{}", submission.part->directory, submission.name()),
                          fmt::format("there is no grade: {}; {}", why, ran.log)}}};
  }
  const TemporaryFolder scratch(std::filesystem::temp_directory_path());
  const auto folder = place(submission, plan, scratch.path()) / submission.part->directory;
  return times_of_grade(ran.document, *submission.part, submission.name(),
                        [&](const TaskSpec& task, const SpeedSpec& speed) {
                          return digest(*submission.part, task, speed, folder);
                        });
}

verify::Check check_of(const Submission& submission, const TimingPlan& plan, Times& times) {
  const auto command = [&submission, &plan](const std::filesystem::path& folder) {
    const auto files = place(submission, plan, folder / "submission");
    auto words = verify::grading_command(plan.installation, submission.part->number, plan.device,
                                         files, folder);
    words.emplace_back("--any-gpu");  // what was measured need not be a GPU of the course
    if (submission.mistake) words.insert(words.end(), {"--task", submission.mistake->task});
    return words;
  };
  return {.claim = {.proof = submission.mistake ? verify::Proof::mistakes : verify::Proof::solution,
                    .part = submission.part->number,
                    .gpu = plan.gpu,
                    .name = submission.mistake ? submission.mistake->name : ""},
          .weight = submission.mistake ? 0 : 1,  // whole parts take longest: they start first
          .command = command,
          .judge = [&submission, &plan, &times](const verify::Ran& ran) {
            times = take_times(ran, submission, plan);
            return verify::Outcome{};
          }};
}

const TaskSpec* task_of(const PartSpec& part, const std::string& id) {
  const auto found = std::ranges::find(part.tasks, id, &TaskSpec::id);
  return found == part.tasks.end() ? nullptr : &*found;
}

std::string why_left_out(const nlohmann::json& task) {
  std::string why = task.at("verdict");
  if (!task.at("diagnostics").empty()) {
    why += ": " + task.at("diagnostics").at(0).at("message").get<std::string>();
  }
  return why;
}

}  // namespace

Times times_of_grade(
    const nlohmann::json& grade, const PartSpec& part, const std::string& submission,
    const std::function<std::string(const TaskSpec&, const SpeedSpec&)>& digest_of) {
  Times times;
  for (const nlohmann::json& task : grade.at("tasks")) {
    const TaskSpec* spec = task_of(part, task.at("id"));
    // What is not timed, or cannot run on this GPU, has no times to miss.
    if (spec == nullptr || spec->speeds.empty() || task.at("verdict") == "not-applicable") continue;
    TimedKernel kernel{.name = fmt::format("{}/{}/{}", part.directory, spec->id, submission)};
    if (task.at("verdict") != "pass") {
      times.left_out.push_back({kernel.name, why_left_out(task)});
      continue;
    }
    for (const nlohmann::json& timing : task.value("timings", nlohmann::json::array())) {
      const auto speed =
          std::ranges::find(spec->speeds, timing.at("name").get<std::string>(), &SpeedSpec::name);
      if (speed == spec->speeds.end()) continue;
      kernel.cases.push_back({.name = speed->name,
                              .time_us = timing.at("time_us"),
                              .spread_us = timing.at("spread_us"),
                              .digest = digest_of(*spec, *speed)});
    }
    if (!kernel.cases.empty()) times.kernels.push_back(std::move(kernel));
  }
  return times;
}

Times time_kernels(const TimingPlan& plan) {
  const std::vector<Submission> submissions = submissions_of(plan);
  std::vector<Times> taken(submissions.size());
  std::vector<verify::Check> checks;
  for (std::size_t i = 0; i < submissions.size(); ++i) {
    checks.push_back(check_of(submissions[i], plan, taken[i]));
  }
  const auto outcomes = verify::run_checks(checks, {.jobs = plan.jobs}, plan.progress);
  Times all;
  for (std::size_t i = 0; i < submissions.size(); ++i) {
    std::ranges::move(taken[i].kernels, std::back_inserter(all.kernels));
    std::ranges::move(taken[i].left_out, std::back_inserter(all.left_out));
    for (const verify::Failure& failure : outcomes[i].failures) {
      all.left_out.push_back(
          {fmt::format("{}/*/{}", submissions[i].part->directory, submissions[i].name()),
           failure.story});
    }
  }
  return all;
}

}  // namespace rooflab::compare_times
