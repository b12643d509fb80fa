#include "grader/cli/teaching/targets_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "grader/author/verify/judge.h"
#include "grader/author/verify/right_submission.h"
#include "grader/cli/grading.h"
#include "grader/cli/progress_line.h"
#include "grader/report/text.h"
#include "grader/spec/course_spec.h"
#include "grader/spec/files.h"
#include "grader/spec/fnv1a.h"
#include "grader/spec/targets.h"
#include "specs/gpu_spec.h"

namespace rooflab {
namespace {

constexpr int kIncomplete = 1;

using verify::RightSubmission;

/// A task whose speed earns points, with the naive submissions that its targets stand above.
struct TimedTask {
  const TaskSpec* spec = nullptr;
  std::vector<RightSubmission> naive = {};
};

bool earns(const SpeedSpec& speed) { return maximum_points(speed) > 0; }

/// Of a timed case: what its times follow from.
std::string digest_of(const PartSpec& part, const TimedTask& task, const SpeedSpec& speed,
                      const std::filesystem::path& solutions) {
  std::string text = text_of(speed.parameters);
  for (const std::string& name : verify::files_of(part, *task.spec)) {
    text += read_file(solutions / part.directory / name);
  }
  for (const RightSubmission& naive : task.naive) {
    for (const std::string& name : naive.files) text += read_file(naive.folder / name);
  }
  return fmt::format("{:016x}", fnv1a(text));
}

/// The targets of one part: what there is, what is missing, and how to find it.
class PartTargets {
 public:
  PartTargets(const Installation& installation, const TargetsOptions& options, int number)
      : installation_(installation),
        options_(options),
        part_(load_part(installation.labs(), installation.solutions(), number)),
        targets_(load_targets(file())),
        course_(course_spec_or_none(installation.labs()).gpus) {
    const std::vector<RightSubmission> right = verify::load_right_submissions(part_);
    for (const TaskSpec& spec : part_.tasks) {
      if (std::ranges::none_of(spec.speeds, earns)) continue;
      TimedTask task{.spec = &spec};
      std::ranges::copy_if(right, std::back_inserter(task.naive),
                           [&](const auto& one) { return one.is_naive && one.task == spec.id; });
      tasks_.push_back(std::move(task));
    }
  }

  /// Measures what is missing or was measured of other sources, or all that was asked for. The file
  /// is written task by task, so that what is interrupted leaves what was known.
  void measure(const std::vector<gpu_spec::GpuSpec>& gpus, ProgressLine& progress) {
    forget_what_is_gone();
    for (const TimedTask& task : tasks_) {
      if (!is_chosen(task) || task.naive.empty()) continue;
      bool is_new = false;
      for (const gpu_spec::GpuSpec& gpu : gpus) {
        if (verify::cannot_run(*task.spec, gpu)) continue;
        if (!options_.all && is_known(task, gpu)) continue;
        progress.show(fmt::format("part {}: {} on {}", part_.number, task.spec->id, gpu.id));
        measure_on(task, gpu);
        is_new = true;
      }
      if (is_new) write_file_atomically(file(), targets_text(targets_));
    }
  }

  /// A line for each case on each GPU, and what is missing as a sentence each.
  void show(std::ostream& out, const std::vector<gpu_spec::GpuSpec>& gpus) {
    add_targets(targets_, part_);
    for (const TimedTask& task : tasks_) {
      if (!is_chosen(task)) continue;
      if (task.naive.empty()) {
        problems_.push_back(fmt::format(
            "{} has no naive submission: put one into right/, and naive = true into its right.toml",
            task.spec->id));
      }
      for (const SpeedSpec& speed : task.spec->speeds) {
        if (earns(speed)) show_case(out, *task.spec, speed, gpus);
      }
    }
  }

  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::filesystem::path file() const { return part_.root / kTargetsFile; }

  bool is_chosen(const TimedTask& task) const {
    return options_.tasks.empty() ||
           std::ranges::find(options_.tasks, task.spec->id) != options_.tasks.end();
  }

  bool is_of_course(const gpu_spec::GpuSpec& gpu) const {
    return std::ranges::find(course_, gpu.id) != course_.end();
  }

  /// Cases that are no longer there, or no longer earn anything.
  void forget_what_is_gone() {
    std::erase_if(targets_, [&](const auto& entry) {
      const auto task = std::ranges::find(part_.tasks, entry.first.first, &TaskSpec::id);
      return task == part_.tasks.end() ||
             std::ranges::none_of(task->speeds, [&](const SpeedSpec& speed) {
               return speed.name == entry.first.second && earns(speed);
             });
    });
  }

  bool is_known(const TimedTask& task, const gpu_spec::GpuSpec& gpu) const {
    return std::ranges::all_of(task.spec->speeds, [&](const SpeedSpec& speed) {
      const auto known = targets_.find({task.spec->id, speed.name});
      return !earns(speed) ||
             (known != targets_.end() && known->second.sources == digest(task, speed) &&
              std::ranges::find(known->second.reached, gpu.id, &Reached::gpu) !=
                  known->second.reached.end());
    });
  }

  std::string digest(const TimedTask& task, const SpeedSpec& speed) const {
    return digest_of(part_, task, speed, installation_.solutions());
  }

  void measure_on(const TimedTask& task, const gpu_spec::GpuSpec& gpu) {
    Grading grading(
        installation_,
        {.part = part_.number, .device = "sim:" + gpu.id, .unlisted = UnlistedGpu::allow});
    for (const SpeedSpec& speed : task.spec->speeds) {
      if (!earns(speed)) continue;
      MeasuredCase& measured = targets_[{task.spec->id, speed.name}];
      const std::string sources = digest(task, speed);
      if (measured.sources != sources) measured = {.sources = sources, .reached = {}};
    }
    measure_task(task, gpu, grading);
  }

  void measure_task(const TimedTask& task, const gpu_spec::GpuSpec& gpu, Grading& grading) {
    const auto solution =
        efficiencies(task, gpu, grading, installation_.solutions(), "the solution");
    std::map<std::string, double> naive;
    for (const RightSubmission& one : task.naive) {
      const TemporaryFolder folder(std::filesystem::temp_directory_path());
      write_submission(one, part_, installation_.solutions(), folder.path());
      for (const auto& [name, efficiency] :
           efficiencies(task, gpu, grading, folder.path(), one.name)) {
        naive[name] = std::max(naive[name], efficiency);
      }
    }
    for (const auto& [name, efficiency] : solution) {
      if (!naive.contains(name)) continue;
      auto& reached = targets_[{task.spec->id, name}].reached;
      std::erase_if(reached, [&](const Reached& one) { return one.gpu == gpu.id; });
      reached.push_back({gpu.id, gpu.compute_capability(), naive[name], efficiency});
      std::ranges::sort(reached, {}, &Reached::gpu);
    }
  }

  /// What a submission reaches of the cases that earn points; those that are wrong are problems.
  std::map<std::string, double> efficiencies(const TimedTask& task, const gpu_spec::GpuSpec& gpu,
                                             Grading& grading,
                                             const std::filesystem::path& submission,
                                             const std::string& name) {
    const GradeResult grade = grading.grade_once({.submission = submission,
                                                  .task = task.spec->id,
                                                  .case_number = {},
                                                  .seed = verify::kSeed,
                                                  .solutions = installation_.solutions(),
                                                  .times_only = true},
                                                 {}, nullptr);
    const TaskResult& result = grade.tasks.front();
    std::map<std::string, double> found;
    for (const Timing& timing : result.timings) found[timing.name] = timing.efficiency;
    std::erase_if(found, [&](const auto& one) {
      const auto speed = std::ranges::find(task.spec->speeds, one.first, &SpeedSpec::name);
      return !earns(*speed);
    });
    if (result.verdict != Verdict::pass) {
      const std::string why =
          result.diagnostics.empty() ? "" : ", " + one_line(result.diagnostics.front().message);
      problems_.push_back(fmt::format("{} of {} is {} on {}{}", name, task.spec->id,
                                      name_of(result.verdict), gpu.id, why));
    }
    return found;
  }

  void show_case(std::ostream& out, const TaskSpec& task, const SpeedSpec& speed,
                 const std::vector<gpu_spec::GpuSpec>& gpus) {
    out << fmt::format("part {} {}, {}\n", part_.number, task.id, speed.name);
    for (const gpu_spec::GpuSpec& gpu : gpus) {
      if (verify::cannot_run(task, gpu)) continue;
      const auto own = std::ranges::find(speed.reached, gpu.id, &Reached::gpu);
      if (own == speed.reached.end()) {
        if (!is_of_course(gpu)) continue;  // its class has an entry, or part.toml says what holds
        problems_.push_back(
            fmt::format("{}, {}: nothing is known of {}; run grader targets "
                        "--measure --part {} --gpu {}",
                        task.id, speed.name, gpu.id, part_.number, gpu.id));
        continue;
      }
      const auto targets = targets_from(*own, {speed.zero_efficiency, speed.full_efficiency});
      out << fmt::format(
          "  {:<16} naive {:>7}  solution {:>7}  {}\n", gpu.id, format_percent(own->naive),
          format_percent(own->solution),
          targets ? fmt::format("points from {:>7} to {:>7}", format_percent(targets->zero),
                                format_percent(targets->full))
                  : "points for right answers");
    }
  }

  const Installation& installation_;
  const TargetsOptions& options_;
  PartSpec part_;
  MeasuredTargets targets_;
  std::vector<std::string> course_;  ///< ids of its GPUs, each of which needs an entry
  std::vector<TimedTask> tasks_;
  std::vector<std::string> problems_;
};

std::vector<gpu_spec::GpuSpec> gpus_of(const TargetsOptions& options,
                                       const Installation& installation) {
  std::vector<gpu_spec::GpuSpec> gpus;
  const auto all = gpu_spec::list(installation.gpus());
  for (const std::string& id : options.gpus.empty() ? all : options.gpus) {
    gpus.push_back(gpu_spec::find(installation.gpus(), id));
  }
  return gpus;
}

}  // namespace

int course_targets(std::ostream& out, const TargetsOptions& options,
                   const Installation& installation) {
  ProgressLine progress;
  const auto gpus = gpus_of(options, installation);
  std::vector<std::string> problems;
  for (const int number : options.parts.empty() ? list_parts(installation.labs()) : options.parts) {
    PartTargets part(installation, options, number);
    if (options.measure) part.measure(gpus, progress);
    progress.clear();
    part.show(out, gpus);
    for (const std::string& problem : part.problems()) {
      problems.push_back(fmt::format("part {}: {}", number, problem));
    }
  }
  for (const std::string& problem : problems) out << problem << '\n';
  return problems.empty() ? 0 : kIncomplete;
}

}  // namespace rooflab
