#include "grader/cli/teaching/batch_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>
#include <memory>
#include <thread>

#include "grader/batch/batch.h"
#include "grader/batch/compare_classes.h"
#include "grader/batch/execute/local_executor.h"
#include "grader/batch/forget.h"
#include "grader/batch/free_text.h"
#include "grader/batch/job_files.h"
#include "grader/batch/neighbours.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/code_titles.h"
#include "grader/cli/devices.h"
#include "grader/cli/grading.h"
#include "grader/cli/teaching/class_progress.h"
#include "grader/cli/teaching/clusters.h"
#include "grader/cli/teaching/replay.h"
#include "grader/cli/teaching/user_name.h"
#include "grader/cli/typed_commands.h"
#include "grader/report/text.h"
#include "grader/sandbox/sandbox.h"
#include "grader/spec/course_spec.h"
#include "grader/spec/files.h"
#include "grader/spec/journal.h"

namespace rooflab {
namespace {

CauseSearch causes_of(const std::string& word) {
  return word == "quick" ? CauseSearch::quick : CauseSearch::full;
}

unsigned processors() { return std::max(1U, std::thread::hardware_concurrency()); }

/// Code of strangers is not run on the strength of limits alone, unless somebody says so.
void insist_on_isolation(bool sandbox) {
  if (!sandbox || isolates(active_layers())) return;
  throw UsageError(
      "nothing here isolates submissions from this machine and from each other; see "
      "what would with grader doctor, or say --no-sandbox if you trust every one of them");
}

/// How many gradings run at a time, and with how many threads each.
struct Share {
  unsigned jobs = 1;
  unsigned threads = 1;
};

constexpr unsigned kNodeThreads = 2;  // of a task on a cluster

Share share_of(const BatchOptions& options) {
  if (options.executor != "local") return {.jobs = options.jobs, .threads = kNodeThreads};
  const unsigned jobs = options.jobs > 0 ? options.jobs : processors();
  return {.jobs = jobs, .threads = std::max(1U, processors() / jobs)};
}

std::filesystem::path grader_of(const Installation& installation) {
  return installation.build / "bin" / "grader";
}

std::unique_ptr<Executor> executor_of(const BatchOptions& options, const Installation& installation,
                                      const Share& share, const std::filesystem::path& folder,
                                      BatchListener& listener) {
  const auto grader = grader_of(installation);
  if (options.executor == "local") {
    return std::make_unique<LocalExecutor>(LocalOptions{.grader = grader, .jobs = share.jobs});
  }
  return cluster_executor(
      {.executor = options.executor,
       .arguments = options.executor_arguments,
       .grader = grader,
       .folder = folder,
       .at_most = share.jobs,
       .cpus = share.threads,
       .progress = [&listener](const std::string& line) { listener.say(line); }});
}

/// "1=48213" -> the number of part 1's assignment on Canvas.
std::map<int, std::string> canvas_assignments(const BatchOptions& options) {
  std::map<int, std::string> assignments;
  for (const std::string& text : options.canvas_assignments) {
    int part = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, part);
    const std::string number(read.ptr, end);
    if (read.ec != std::errc() || number.size() < 2 || number.front() != '=') {
      throw UsageError(fmt::format(
          "--canvas-assignment {}: write a part and Canvas's number of its assignment, as in "
          "--canvas-assignment 1=48213",
          text));
    }
    assignments[part] = number.substr(1);
  }
  return assignments;
}

/// Which device a batch is graded on.
class DeviceChoice {
 public:
  DeviceChoice(const BatchOptions& options, const Installation& installation,
               const Toolchain& toolchain)
      : options_(options),
        installation_(installation),
        toolchain_(toolchain),
        course_(course_spec_or_none(installation.labs())) {}

  /// The one that the command names; empty where it names none.
  std::string named() const { return options_.device.empty() ? "" : resolved(options_.device); }
  /// Where no command ever named one.
  std::string usual() const { return resolved(course_.device); }

  /// @throws UsageError for a GPU that the course does not list
  void admit(const std::string& device) const {
    if (!device.starts_with("sim:")) return;  // the worker sees which GPU a real one is
    const std::string objection = objection_to_gpu(device.substr(4), course_.gpus);
    if (!objection.empty()) throw UsageError(objection);
  }

 private:
  /// The full name of a device: what is graded on `auto` has to be known a year later.
  std::string resolved(const std::string& selector) const {
    const bool local = options_.executor == "local";
    if (!local && selector == "auto") {
      const std::string gpu =
          course_.gpus.empty() ? gpu_spec::list(installation_.gpus()).at(0) : course_.gpus.front();
      throw UsageError(fmt::format(
          "--executor {} needs a device by name: auto is what this machine has, not what grades; "
          "say --device cuda or --device sim:{}, or write it as device = \"cuda\" into "
          "labs/course.toml",
          options_.executor, gpu));
    }
    // The nodes of a cluster have the GPUs; this machine need not.
    if (!local && selector.starts_with("cuda")) return selector;
    DeviceOptions device = device_options(installation_, toolchain_, options_.sandbox);
    device.only_those = true;
    tell_of_device(options_.device, device);
    const auto opened = open_device(selector, device);
    const std::string objection = objection_to_gpu(opened->gpu().id, course_.gpus);
    if (!objection.empty()) throw UsageError(objection);
    return opened->id();
  }

  const BatchOptions& options_;
  const Installation& installation_;
  const Toolchain& toolchain_;
  CourseSpec course_;
};

/// When parts are due by the course's calendar.
std::map<int, Moment> due_dates(const Installation& installation) {
  std::map<int, Moment> due;
  for (const auto& [part, dates] : course_spec_or_none(installation.labs()).calendar) {
    if (dates.due) due[part] = *dates.due;
  }
  return due;
}

BatchRequest request_of(const BatchOptions& options, const DeviceChoice& device,
                        const Installation& installation) {
  return {.out = options.out,
          .submissions = options.submissions,
          .roster = options.roster,
          .policy = options.policy,
          .groups = options.groups,
          .manual = options.manual,
          .requests = options.requests,
          .parts = options.parts,
          .due = due_dates(installation),
          .device = device.named(),
          .default_device = [&device] { return device.usual(); },
          .seed = options.seed,
          .assignment = options.assignment,
          .canvas_assignments = canvas_assignments(options),
          .leaderboard = options.leaderboard,
          .regrade_counts = options.regrade_counts,
          .regrade = options.regrade,
          .choose = options.choose,
          .by = name_of_user(),
          .resume = options.resume || !options.forget.empty()};
}

/// What goes on with a batch that was stopped.
std::string command_that_goes_on(const BatchOptions& options) {
  std::string command = typed_program() + " batch --out " + quoted_word(options.out);
  if (options.executor != "local") command += " --executor " + options.executor;
  for (const std::string& argument : options.executor_arguments) {
    command += " --executor-argument=" + quoted_word(argument);
  }
  if (options.causes != "full") command += " --causes " + options.causes;
  if (!options.sandbox) command += " --no-sandbox";
  return command;
}

void tell_summary(const BatchSummary& summary, const BatchOptions& options,
                  const std::filesystem::path& folder) {
  std::cout << fmt::format("{} students, {} submissions", summary.students, summary.submitted);
  if (summary.students > summary.submitted) {
    std::cout << fmt::format(", {} missing", summary.students - summary.submitted);
  }
  if (summary.strangers > 0) {
    std::cout << fmt::format(", {} not on the roster", summary.strangers);
  }
  if (summary.ungraded > 0) std::cout << fmt::format(", {} not graded yet", summary.ungraded);
  if (summary.faults > 0) std::cout << fmt::format(", {} faults of the grader", summary.faults);
  if (summary.problems > 0) std::cout << fmt::format(", {} to be looked at", summary.problems);
  if (summary.refused > 0) {
    std::cout << fmt::format(", {} regrade requests not kept", summary.refused);
  }
  if (summary.outdated > 0) {
    std::cout << fmt::format(", {} changed since they were graded", summary.outdated);
  }
  std::cout << '\n';
  if (summary.stopped) {
    std::cout << fmt::format("not finished: the same command goes on with it, and so does\n  {}\n",
                             command_that_goes_on(options));
  }
  if (summary.pending + summary.pending_of_strangers > 0) {
    const std::string table = quoted_word((folder / "free_text.csv").string());
    std::cout << fmt::format(
        "{}, and the gradebooks leave out these totals: give points in a browser\n  {} review {}\n"
        "or in {}, then\n  {} batch --out {} --manual {}\n",
        waiting_words(summary.pending, summary.pending_of_strangers), typed_program(),
        quoted_word(options.out), table, typed_program(), quoted_word(options.out), table);
  }
  std::cout << fmt::format("the class: {}\n", (folder / "class.html").string());
}

/// @return 1 where a grade differs
int compare_with(const std::string& earlier, Batch& now, const Course& course) {
  constexpr std::size_t kMostShown = 50;
  if (std::filesystem::weakly_canonical(earlier) ==
      std::filesystem::weakly_canonical(now.folder().path())) {
    throw UsageError(fmt::format(
        "--compare {}: this is the batch itself; name the folder of another batch", earlier));
  }
  BatchRequest request;
  request.out = earlier;
  request.resume = true;  // there has to be one
  Batch before(request);
  const ClassComparison comparison =
      compare_classes(graded_class(before.store(), course, before.settings().policy),
                      graded_class(now.store(), course, now.settings().policy));
  const std::filesystem::path table = now.folder().path() / "compared.csv";
  write_file_atomically(table, compared_csv(comparison));
  std::cout << compared_words(comparison, kMostShown) << "the table: " << table.string() << '\n';
  return comparison.changed.empty() ? 0 : 1;
}

/// The outputs are written anew in any case: an earlier command may have been interrupted.
int forget_student(Batch& batch, const Course& course, const BatchWork& work,
                   const std::filesystem::path& cache, const std::string& who) {
  class Quiet : public BatchListener {
    void say(const std::string& /*line*/) override {}
    void progress(const BatchProgress& /*progress*/) override {}
    bool stop() override { return false; }
  } quiet;
  Forgotten forgotten;
  try {
    forgotten = forget(batch.store(), batch.folder(), who, cache);
  } catch (const std::exception&) {
    batch.write_outputs(course, work, quiet);
    throw;
  }
  batch.write_outputs(course, work, quiet);
  const ForgottenRows& rows = forgotten.rows;
  std::cout << fmt::format(
      "{} is forgotten; removed: submissions {}, gradings {}, points by people {}, comments {}, "
      "files {}, builds in the cache {}; the outputs of the class are written anew\nnot removed:\n",
      one_line(who), rows.submissions, rows.gradings, rows.points, rows.comments, forgotten.files,
      forgotten.builds);
  for (const std::string& line : forgotten.left) std::cout << "  " << line << '\n';
  return 0;
}

int exit_code_of(const BatchSummary& summary) {
  if (summary.faults > 0 || summary.stopped) return 3;
  return summary.problems + summary.refused > 0 ? 1 : 0;
}

}  // namespace

int grade_class(const BatchOptions& options, const Installation& installation) {
  if (options.executor != "local") require_clusters("--executor " + options.executor);
  insist_on_isolation(options.sandbox);
  const Toolchain toolchain = find_toolchain(installation);
  try {
    const DeviceChoice device(options, installation, toolchain);
    Batch batch(request_of(options, device, installation));
    const Course course = load_course(installation, toolchain, batch.settings().parts);
    if (!options.replay.empty()) {
      return replay(std::cout, batch.store(), course, options.replay, installation,
                    {.sandbox = options.sandbox,
                     .causes = causes_of(options.causes),
                     .reveal = options.reveal})
                 ? 0
                 : 1;
    }
    if (!options.compare.empty()) return compare_with(options.compare, batch, course);
    const Share share = share_of(options);
    const BatchWork work{.unpacker = installation.build / "bin" / "rooflab-unpack",
                         .gpu_specs = installation.gpus(),
                         .jobs = share.jobs > 0 ? share.jobs : processors(),
                         .threads = share.threads,
                         .sandbox = options.sandbox,
                         .causes = options.causes,
                         .code_titles = read_code_titles(installation.handouts() / "errors"),
                         .admit = [&device](const std::string& id) { device.admit(id); }};
    if (!options.forget.empty()) {
      return forget_student(batch, course, work, installation.cache, options.forget);
    }
    ClassProgress progress;
    const auto executor =
        executor_of(options, installation, share, batch.folder().path(), progress);
    const BatchSummary summary = batch.run(course, work, *executor, progress);
    progress.clear();
    tell_summary(summary, options, batch.folder().path());
    return exit_code_of(summary);
  } catch (const BatchError& error) {
    throw UsageError(error.what());
  }
}

int grade_task_of_list(const std::string& list, std::size_t index,
                       const Installation& installation) {
  return run_cluster_task(grader_of(installation), list, index);
}

int grade_job(const std::string& folder, const Installation& installation) {
  const JobDescription job = read_job(folder);
  if (read_result(folder)) return 0;
  Grading grading(installation, {.part = job.part,
                                 .device = job.device,
                                 .sandbox = job.sandbox,
                                 .workers = job.threads,
                                 .for_grades = true});
  std::vector<RevealedCase> revealed;
  GradeResult result =
      grading.grade_once({.submission = sources_of(folder),
                          .task = {},
                          .case_number = {},
                          .seed = job.seed,
                          .students = job.students,
                          .solutions = installation.solutions(),
                          .jobs = job.threads,
                          .causes = causes_of(job.causes)},
                         {.progress = [](const std::string&) {}}, nullptr, &revealed);
  result.submission = "the submission";
  result.journal = read_journal(sources_of(folder) / grading.part().directory, grading.part());
  auto texts = texts_in(sources_of(folder), grading.part());
  texts.merge(work_logs_in(result));
  write_result(folder, std::move(result), grading.device().gpu().id, revealed, texts,
               numbers_in(sources_of(folder), grading.part()));
  return 0;
}

}  // namespace rooflab
