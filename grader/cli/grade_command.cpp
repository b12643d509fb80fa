#include "grader/cli/grade_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "grader/cli/course_progress.h"
#include "grader/cli/editor_output.h"
#include "grader/cli/grading.h"
#include "grader/cli/info_commands.h"
#include "grader/cli/journal_command.h"
#include "grader/cli/kept_runs.h"
#include "grader/cli/log_version.h"
#include "grader/cli/output_files.h"
#include "grader/cli/progress_line.h"
#include "grader/cli/task_files.h"
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
                  .tells_of_device = true}),
        seed_(options.seed ? *options.seed : fresh_seed()) {
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

  /// @param only of these tasks; empty: as the command line says
  GradeResult grade_once(const std::vector<std::string>& only = {}) {
    ProgressLine progress;
    const TaskFiles files = read_files();
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
            },
        .explore = explorer()};
    GradeResult result =
        grading_.grade_once(request(only), listener, options_.trace.empty() ? nullptr : &trace_);
    for (TaskResult& task : result.tasks) complete_commands(options_, task);
    if (options_.case_number) return result;  // a case alone is no run of its task
    const KeptRuns runs(installation_.cache, submission_of(options_, installation_));
    add_comparison(runs, result);
    const auto hashes = hashes_of(result, files);
    const auto known = runs.hashes(part().number, result.device);
    is_unchanged_ = std::ranges::includes(known, hashes);
    runs.keep(part(), result, hashes);
    note(result, known, hashes);
    return result;
  }

  /// What is left of the report behind the stories, which have been told while the tasks were
  /// graded. The terminal shows the result even when a file cannot be written: it took minutes to
  /// get.
  /// @throws FileError after all of them were tried, for the first that failed.
  /// @param lines_of tasks that have a line; empty: all
  void report(const GradeResult& result, const std::vector<std::string>& lines_of = {}) const {
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
    if (!write(html, to_html(result, grading_.device().roofline_gpu(), next_words()))) html.clear();
    if (!options_.trace.empty()) write(options_.trace, trace_.to_json());
    const bool has_replay =
        !exploration_.page.empty() && write(options_.explore, exploration_.page);
    if (!options_.json.empty() && !json_on_stdout()) write(options_.json, to_json(result));
    if (!options_.sarif.empty()) {
      write(options_.sarif, for_editors().sarif(result, installation_.handouts()));
    }
    print_summary(out(), result,
                  {.colour = has_colour(),
                   .html = html,
                   .all_timings = options_.task.has_value(),
                   .printed = options_.task.has_value(),
                   .single_case = options_.case_number.value_or(0),
                   .single_task = options_.task.has_value(),
                   .part_so_far = part_so_far(result),
                   .lines_of = lines_of});
    if (is_unchanged_) {
      out() << "  the files are those of your last run; if you changed something, save it in your "
               "editor\n";
    }
    if (!options_.trace.empty() && !failure) {
      out() << fmt::format(
          "  trace {}: open it in https://ui.perfetto.dev or in chrome://tracing\n",
          options_.trace);
    }
    if (has_replay) {
      out() << fmt::format("  {} step by step: open {} in a browser\n", exploration_.task,
                           options_.explore);
    } else if (!exploration_.why_not.empty()) {
      out() << fmt::format("  {} is not written: {}\n", options_.explore, exploration_.why_not);
    }
    if (json_on_stdout()) std::cout << to_json(result);
    if (options_.problems) std::cout << for_editors().problems(result);
    if (!std::cout.flush())
      throw FileError("cannot write to standard output; is its disk full or its pipe closed?");
    if (failure) std::rethrow_exception(failure);
  }

  /// What is next, first beside the task that was graded: after a run in which everything asked for
  /// passed, and after that of a whole part.
  void tell_next(const GradeResult& result) const {
    if (options_.json == "-") return;
    if (options_.task && exit_code_of(result) != 0) return;  // its own story says what is next
    out() << next_words();
  }

  const PartSpec& part() const { return grading_.part(); }
  std::filesystem::path folder() const {
    return submission_of(options_, installation_) / part().directory;
  }
  TaskFiles read_files() const { return {part(), folder()}; }

  /// Grades at once, and then what is saved: those tasks alone whose files have changed.
  [[noreturn]] void watch() {
    FolderWatch saves(folder(), watched_files());
    std::optional<GradeResult> all;
    std::optional<TaskFiles> graded;
    while (true) {
      mark(kProblemsBegin);
      try {
        TaskFiles files = read_files();
        const auto changed = graded ? changed_since(*graded, files) : std::vector<std::string>();
        if (graded && changed.empty()) {
          out() << "\nsaved, and nothing that is graded here has changed\n";
          // A problem matcher forgets what it knew at each beginning.
          if (options_.problems) std::cout << for_editors().problems(*all);
        } else {
          GradeResult result = grade_once(changed);
          if (all) {
            take_over(result, *all);
          } else {
            all = std::move(result);
          }
          graded = std::move(files);
          report(*all, changed);
        }
      } catch (const UsageError& error) {  // a file may be away while an editor saves it
        std::cerr << "grader: " << error.what() << '\n';
      }
      mark(kProblemsEnd);
      out() << fmt::format("\nwaiting for a save in {} (end with Ctrl-C)\n", folder().string())
            << std::flush;
      saves.wait_for_save();
    }
  }

 private:
  /// Empty where no page is wanted: nothing is run again then.
  std::function<void(Exploration)> explorer() {
    exploration_ = {};
    if (options_.explore.empty()) return {};
    return [this](Exploration shown) { exploration_ = std::move(shown); };
  }

  /// Of a single task not the texts of others: the grader itself writes to the work log.
  std::vector<std::string> watched_files() const {
    std::vector<std::string> files = submitted_files(part());
    for (const TaskSpec& task : part().tasks) {
      const bool is_other = options_.task && task.id != *options_.task;
      if (is_other && is_text(task)) std::erase(files, task.file);
    }
    return files;
  }

  /// Of what the command line asks for.
  std::vector<std::string> changed_since(const TaskFiles& then, const TaskFiles& now) const {
    std::vector<std::string> changed = now.tasks_changed_since(then);
    if (options_.task) std::erase_if(changed, [&](const auto& id) { return id != *options_.task; });
    return changed;
  }

  /// Puts new results in the place of old ones.
  static void take_over(GradeResult& result, GradeResult& all) {
    for (TaskResult& old : all.tasks) {
      old.since_last_run.reset();
      const auto now = std::ranges::find(result.tasks, old.id, &TaskResult::id);
      if (now != result.tasks.end()) old = std::move(*now);
    }
    all.build_s = result.build_s;
    all.run_s = result.run_s;
  }

  /// What each task of a result was made of.
  TaskHashes hashes_of(const GradeResult& result, const TaskFiles& files) const {
    TaskHashes hashes;
    for (const TaskSpec& task : part().tasks) {
      const bool is_there =
          std::ranges::find(result.tasks, task.id, &TaskResult::id) != result.tasks.end();
      if (is_there) hashes[task.id] = files.hash(task);
    }
    return hashes;
  }

  /// In the student's journal.
  void note(const GradeResult& result, const TaskHashes& known, const TaskHashes& hashes) const {
    std::set<std::string> unchanged;
    for (const auto& [task, hash] : hashes) {
      const auto before = known.find(task);
      if (before != known.end() && before->second == hash) unchanged.insert(task);
    }
    const std::string failure = note_in_journal(submission_of(options_, installation_), part(),
                                                result, unchanged, std::time(nullptr));
    if (!failure.empty()) {
      std::cerr << fmt::format("grader: this run is not in your journal: {}\n", failure);
    }
  }

  /// What the kept runs of the part come to, behind the points of a single task; empty where
  /// nothing but that task is known.
  std::string part_so_far(const GradeResult& result) const {
    if (!options_.task || options_.case_number) return {};
    const KeptRuns runs(installation_.cache, submission_of(options_, installation_));
    const auto known = runs.last(part().number, result.device);
    if (!known || known->tasks.size() < 2) return {};
    double most = 0;
    for (const TaskSpec& task : part().tasks) most += task.bonus ? 0 : maximum_points(task);
    std::string words = fmt::format("Part {} so far: {} of {}", part().number,
                                    format_points(known->score()), format_points(most));
    if (known->bonus() > 0) words += fmt::format(" and {} bonus", format_points(known->bonus()));
    return words;
  }

  /// What is next, in lines; empty after a single case, and where nothing is.
  std::string next_words() const {
    if (options_.case_number) return {};
    try {
      const auto submission = submission_of(options_, installation_);
      const auto course = course_progress(installation_, submission);
      const AtWork at_work{.part = part().number, .task = options_.task.value_or("")};
      const auto step = next_step(course, submission, at_work);
      if (!step) return {};
      std::ostringstream words;
      print_next_step(words, step, submission, submission_flag(options_));
      if (const auto open = open_before(course, step->part); !open.empty()) words << open << '\n';
      return words.str();
    } catch (const std::exception&) {  // another part may be broken, and this one is graded
      return {};
    }
  }

  bool json_on_stdout() const { return options_.json == "-"; }
  bool programs_read_stdout() const { return json_on_stdout() || options_.problems; }
  /// With what programs read on stdout, people read on stderr.
  std::ostream& out() const { return programs_read_stdout() ? std::cerr : std::cout; }
  bool has_colour() const {
    return ::isatty(programs_read_stdout() ? STDERR_FILENO : STDOUT_FILENO) == 1;
  }

  EditorOutput for_editors() const { return {part(), submission_of(options_, installation_)}; }
  /// Where a problem matcher of --watch takes its problems to begin or to end.
  void mark(const char* line) const {
    if (options_.problems) std::cout << line << std::endl;  // it is read at once
  }

  std::string html_file() const {
    if (!options_.html.empty()) return options_.html;
    return default_html_file(part().number, options_.task.value_or(""),
                             options_.case_number.value_or(0),
                             submission_of(options_, installation_))
        .string();
  }

  GradeRequest request(const std::vector<std::string>& only) const {
    return {.submission = submission_of(options_, installation_),
            .task = options_.task,
            .only = only,
            .case_number = options_.case_number,
            .seed = seed_,
            .students = options_.student.empty() ? std::vector<std::string>()
                                                 : std::vector{options_.student},
            .solutions = installation_.solutions(),
            .jobs = std::max(1U, std::thread::hardware_concurrency()),
            .causes = options_.causes == "quick" ? CauseSearch::quick : CauseSearch::full};
  }

  const Options& options_;
  const Installation& installation_;
  Grading grading_;
  Seed seed_;  ///< one for all runs of --watch: a change of a result is one of the code
  bool is_unchanged_ = false;  ///< all that was graded is as it was in the last run
  TraceLog trace_{grading_.device().gpu()};
  Exploration exploration_;
};

}  // namespace

int run_grade(const Options& options, const Installation& installation) {
  refuse_foreign_outputs(options);
  GradeCommand grading(options, installation);
  if (!options.watch) {
    grading.ask();
    std::optional<VersionLog> log;
    if (options.log) {
      log.emplace(grading.part(), options.task.value_or(""), submission_of(options, installation),
                  *options.log);
    }
    const GradeResult result = grading.grade_once();
    grading.report(result);
    if (log) (options.json == "-" || options.problems ? std::cerr : std::cout) << log->keep(result);
    grading.tell_next(result);
    return exit_code_of(result);
  }
  grading.watch();
}

}  // namespace rooflab
