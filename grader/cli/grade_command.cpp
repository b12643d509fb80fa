#include "grader/cli/grade_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <thread>

#include "grader/cli/course_progress.h"
#include "grader/cli/grading.h"
#include "grader/cli/info_commands.h"
#include "grader/cli/kept_runs.h"
#include "grader/cli/output_files.h"
#include "grader/cli/progress_line.h"
#include "grader/cli/typed_commands.h"
#include "grader/cli/watch.h"
#include "grader/pipeline/grade.h"
#include "grader/pipeline/seeds.h"
#include "grader/pipeline/trace.h"
#include "grader/report/html.h"
#include "grader/report/json.h"
#include "grader/report/terminal.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

constexpr std::size_t kShortStory = 90;  ///< columns

int exit_code_of(const GradeResult& result) {
  const auto is = [](Verdict verdict) {
    return [verdict](const TaskResult& task) { return task.verdict == verdict; };
  };
  if (std::ranges::any_of(result.tasks, is(Verdict::grader_fault))) return 3;
  const auto is_fine = [&](const TaskResult& task) {
    return is(Verdict::pass)(task) || is(Verdict::not_applicable)(task);
  };
  return std::ranges::all_of(result.tasks, is_fine) ? 0 : 1;
}

/// Grades as the command line asks, and reports.
class GradeCommand {
 public:
  GradeCommand(const Options& options, const Installation& installation)
      : options_(options),
        installation_(installation),
        grading_(installation,
                 {.part = options.part.value(),
                  .device = options.device,
                  .unlisted = options.any_gpu ? UnlistedGpu::allow : UnlistedGpu::warn,
                  .sandbox = options.sandbox,
                  .tells_of_device = true}) {
    if (!grading_.warning().empty()) {
      std::cerr << "grader: these points may not be those of the class: " << grading_.warning()
                << '\n';
    }
  }

  /// The questions of a student whom the command line names, for a run of nothing else.
  void ask() const {
    if (options_.student.empty() || !options_.task) return;
    if (find_task(part(), *options_.task).kind != TaskKind::answers) return;
    show_tasks(out(), options_, installation_);
    out() << '\n';
  }

  GradeResult grade_once() {
    ProgressLine progress;
    trace_ = TraceLog(grading_.device().gpu());
    const Grading::Listener listener{
        .progress = [&](const std::string& text) { progress.show(text); },
        .graded =
            [&](TaskResult task) {
              progress.clear();
              complete_commands(options_, task);
              print_stories(out(), task, has_colour());
              out().flush();
            },
        .failing =
            [&](const TaskSpec& task, const Diagnostic& story) {
              ProgressLine::keep(fmt::format("{}: {}: {}", task.id, story.code.text(),
                                             shorten(one_line(story.message), kShortStory)));
            }};
    GradeResult result =
        grading_.grade_once(request(), listener, options_.trace.empty() ? nullptr : &trace_);
    for (TaskResult& task : result.tasks) complete_commands(options_, task);
    if (options_.case_number) return result;  // a case alone is no run of its task
    const KeptRuns runs(installation_.cache, submission_of(options_, installation_));
    add_comparison(runs, result);
    runs.keep(grading_.part(), result);
    return result;
  }

  /// What is left of the report behind the stories, which have been told while the tasks were
  /// graded. The terminal shows the result even when a file cannot be written: it took minutes to
  /// get.
  /// @throws FileError after all of them were tried, for the first that failed.
  void report(const GradeResult& result) const {
    std::exception_ptr failure;
    const auto write = [&failure](const std::filesystem::path& file, const std::string& text) {
      try {
        write_file_atomically(file, text);
        return true;
      } catch (const FileError&) {
        if (!failure) failure = std::current_exception();
        return false;
      }
    };
    const std::filesystem::path folder = std::filesystem::path(html_file()).parent_path();
    for (const TaskResult& task : result.tasks) {
      for (const auto& [name, text] : task.artifacts) {
        write(folder / fmt::format("part{}-{}", result.part, task.id) / name, text);
      }
    }
    std::string html = html_file();
    if (!write(html, to_html(result, grading_.device().roofline_gpu()))) html.clear();
    if (!options_.trace.empty()) write(options_.trace, trace_.to_json());
    if (!options_.json.empty() && !json_on_stdout()) write(options_.json, to_json(result));
    print_summary(out(), result,
                  {.colour = has_colour(),
                   .html = html,
                   .all_timings = options_.task.has_value(),
                   .printed = options_.task.has_value(),
                   .single_case = options_.case_number.value_or(0)});
    if (json_on_stdout()) std::cout << to_json(result);
    if (!std::cout.flush())
      throw FileError("cannot write to standard output; is its disk full or its pipe closed?");
    if (failure) std::rethrow_exception(failure);
  }

  /// After a run in which everything asked for passed: what is next in the course.
  void tell_next(const GradeResult& result) const {
    if (options_.json == "-" || options_.case_number || exit_code_of(result) != 0) return;
    try {
      const auto submission = submission_of(options_, installation_);
      const auto step = next_step(course_progress(installation_, submission), submission);
      if (step) print_next_step(std::cout, step, submission, submission_flag(options_));
    } catch (const std::exception&) {  // another part may be broken, and this one is graded
    }
  }

  const PartSpec& part() const { return grading_.part(); }

 private:
  bool json_on_stdout() const { return options_.json == "-"; }
  /// With the document on stdout, people read on stderr.
  std::ostream& out() const { return json_on_stdout() ? std::cerr : std::cout; }
  bool has_colour() const {
    return ::isatty(json_on_stdout() ? STDERR_FILENO : STDOUT_FILENO) == 1;
  }

  std::string html_file() const {
    return options_.html.empty() ? fmt::format("out/part{}.html", part().number) : options_.html;
  }

  GradeRequest request() const {
    return {.submission = submission_of(options_, installation_),
            .task = options_.task,
            .case_number = options_.case_number,
            .seed = options_.seed ? *options_.seed : fresh_seed(),
            .students = options_.student.empty() ? std::vector<std::string>()
                                                 : std::vector{options_.student},
            .solutions = installation_.solutions(),
            .jobs = std::max(1U, std::thread::hardware_concurrency())};
  }

  const Options& options_;
  const Installation& installation_;
  Grading grading_;
  TraceLog trace_{grading_.device().gpu()};
};

}  // namespace

int run_grade(const Options& options, const Installation& installation) {
  refuse_foreign_outputs(options);
  GradeCommand grading(options, installation);
  if (!options.watch) {
    grading.ask();
    const GradeResult result = grading.grade_once();
    grading.report(result);
    grading.tell_next(result);
    return exit_code_of(result);
  }
  const auto folder = submission_of(options, installation) / grading.part().directory;
  FolderWatch watch(folder, submitted_files(grading.part()));
  while (true) {
    try {
      grading.report(grading.grade_once());
    } catch (const UsageError& error) {  // a file may be away for a moment while an editor saves it
      std::cerr << "grader: " << error.what() << '\n';
    }
    std::cout << fmt::format("\nwaiting for a save in {} (end with Ctrl-C)\n", folder.string())
              << std::flush;
    watch.wait_for_save();
  }
}

}  // namespace rooflab
