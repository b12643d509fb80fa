#include "grader/pipeline/grade.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "grader/pipeline/explore.h"
#include "grader/pipeline/grade_task.h"
#include "grader/pipeline/runs_ahead.h"
#include "grader/pipeline/score.h"
#include "grader/reactions/cause_story.h"
#include "grader/spec/handed_out.h"
#include "grader/spec/hints_used.h"
#include "grader/spec/similar_name.h"

namespace rooflab {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<const TaskSpec*> chosen_tasks(const PartSpec& part, const GradeRequest& request) {
  std::vector<const TaskSpec*> tasks;
  if (request.task) {
    tasks = {&find_task(part, *request.task)};
  } else {
    const auto& only = request.only;
    for (const TaskSpec& task : part.tasks) {
      if (only.empty() || std::ranges::find(only, task.id) != only.end()) tasks.push_back(&task);
    }
  }
  if (!request.case_number) return tasks;
  if (!request.task) throw UsageError("--case counts the cases of one task; name it with --task");
  const auto cases = std::ranges::count(tasks.front()->cases, false, &CaseSpec::hidden);
  if (*request.case_number < 1 || *request.case_number > cases) {
    throw UsageError(fmt::format("task {} has no case {}; it has {} (see grader --part {} --list)",
                                 *request.task, *request.case_number, cases, part.number));
  }
  return tasks;
}

/// The submission is a folder that holds at least one file of the part, all readable.
void check_submission(const PartSpec& part, const std::filesystem::path& submission) {
  std::error_code error;
  if (!std::filesystem::exists(submission, error)) {
    throw UsageError(
        fmt::format("there is no submission {}; name a folder with the layout of starter/",
                    submission.string()));
  }
  if (!std::filesystem::is_directory(submission, error)) {
    throw UsageError(
        fmt::format("the submission {} is no folder; name one with the layout of starter/",
                    submission.string()));
  }
  const auto folder = submission / part.directory;
  std::size_t present = 0;
  for (const std::string& name : submitted_files(part)) {
    const SubmittedFile file = read_submitted(folder, name);
    if (file.state == SubmittedFile::State::unreadable) {
      throw UsageError(fmt::format("cannot read {}: {}; correct its permissions",
                                   (folder / name).string(), file.reason));
    }
    present += file.state != SubmittedFile::State::missing ? 1 : 0;
  }
  if (present == 0) {
    throw UsageError(fmt::format(
        "the submission has no file of part {} in {}: it may hold {}; copy them from {}",
        part.number, folder.string(), fmt::join(submitted_files(part), ", "),
        where_handed_out(part)));
  }
  // A part's folder that leads out of the submission would let it hand in someone else's files.
  const auto real_folder = std::filesystem::canonical(folder, error);
  const auto real_submission = std::filesystem::canonical(submission, error);
  if (error || real_folder.parent_path() != real_submission) {
    throw UsageError(
        fmt::format("{} is a link out of the submission; make it a folder", folder.string()));
  }
}

/// The texts of a task's files, which are read into `task`; none unless all of them are there. Of
/// the part's headers those that are: nobody has to include them.
std::vector<SourceFile> read_sources(const std::filesystem::path& folder,
                                     const std::vector<std::string>& headers, BuiltTask& task) {
  std::vector<SourceFile> sources;
  bool all_there = true;
  const auto read = [&](const std::string& name, bool is_header) {
    SubmittedFile file = read_submitted(folder, name);
    if (is_header && file.state == SubmittedFile::State::missing) return;
    if (file.state == SubmittedFile::State::present) {
      sources.push_back({name, file.text, is_header});
    } else {
      all_there = false;
    }
    task.files.push_back({name, std::move(file)});
  };
  read(task.task->file, false);
  for (const std::string& used : task.task->uses) read(used, false);
  for (const std::string& header : headers) read(header, true);
  return all_there ? sources : std::vector<SourceFile>();
}

/// Calls work(0) ... work(count - 1) from up to `jobs` threads, this one among them. When some
/// throw, the rest is done all the same, and the first exception goes on from here.
void for_each_index(std::size_t count, std::size_t jobs,
                    const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr fault;
  const auto take_turns = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!fault) fault = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(jobs, count); ++i) threads.emplace_back(take_turns);
    take_turns();
  }
  if (fault) std::rethrow_exception(fault);
}

bool does_not_compile(const BuiltTask& built) {
  return built.build.end == BuildOutcome::End::failed;
}

/// Compiles all files, several at a time; each outcome stands beside its task.
std::vector<BuiltTask> build_stage(const PartSpec& part, const GradeRequest& request,
                                   const GradeTools& tools,
                                   const std::vector<const TaskSpec*>& tasks) {
  std::vector<BuiltTask> built(tasks.size());
  for_each_index(tasks.size(), request.jobs, [&](std::size_t i) {
    built[i].task = tasks[i];
    if (is_text(*tasks[i])) return;
    if (!missing_peak(*tasks[i], tools.device.gpu()).empty()) return;
    const auto sources = read_sources(request.submission / part.directory, part.headers, built[i]);
    if (sources.empty()) return;
    tools.progress("building " + tasks[i]->file);
    built[i].build = tools.build(*tasks[i], sources);
  });
  return built;
}

/// Hands results on in their order, whichever is there first.
class ResultsInOrder {
 public:
  ResultsInOrder(std::size_t count, const std::function<void(const TaskResult&)>& graded)
      : graded_(graded), results_(count) {}

  /// @param at_once it is told of before those that come first
  void add(std::size_t index, TaskResult result, bool at_once) {
    const std::scoped_lock lock(mutex_);
    results_[index] = {std::move(result), true, false};
    if (at_once) tell(results_[index]);
    for (; next_ < results_.size() && results_[next_].is_there; ++next_) tell(results_[next_]);
  }

  std::vector<TaskResult> take() {
    std::vector<TaskResult> all;
    for (Entry& entry : results_) all.push_back(std::move(entry.result));
    return all;
  }

 private:
  struct Entry {
    TaskResult result;
    bool is_there = false, is_told = false;
  };
  void tell(Entry& entry) const {
    if (graded_ && !entry.is_told) graded_(entry.result);
    entry.is_told = true;
  }

  const std::function<void(const TaskResult&)>& graded_;
  std::mutex mutex_;
  std::vector<Entry> results_;
  std::size_t next_ = 0;
};

/// Tells which hints were shown, and takes what the course asks for them, down to 0 points: a share
/// of the task's points for a hint of the task, of its group's for one of a group.
void add_hints(const TaskSpec& task, const std::map<std::string, int>& shown, double hint_cost,
               TaskResult& result) {
  double price = 0;
  const auto shown_of = [&](const std::string& name) {
    const auto found = shown.find(name);
    return found == shown.end() ? 0 : found->second;
  };
  result.hints.shown = shown_of(hints_name(task));
  result.hints.of = static_cast<int>(task.hints.size());
  price += hint_cost * result.hints.shown * result.max_score;
  for (const GroupSpec& group : task.groups) {
    if (group.hints.empty()) continue;
    const int used = shown_of(hints_name(task, group));
    result.hints.groups.push_back({group.name, used, static_cast<int>(group.hints.size())});
    if (result.max_score > 0) price += hint_cost * used * group.points;
  }
  result.hints.points = rounded_points(std::min(price, result.score));
  result.score = rounded_points(result.score - result.hints.points);
}

/// Grades what was built, several tasks at a time where no run's time suffers from another's.
std::vector<TaskResult> run_stage(const PartSpec& part, const GradeRequest& request,
                                  const GradeTools& tools, const std::vector<BuiltTask>& built) {
  const bool alone = !tools.device.runs_side_by_side() || tools.observe;
  RunSlots slots(alone ? 1 : request.jobs);
  const auto shown = read_hints_used(request.submission / part.directory, part);
  ResultsInOrder results(built.size(), tools.graded);
  const auto grade_one = [&](std::size_t i) {
    const TaskSpec& task = *built[i].task;
    TaskResult result = task.kind == TaskKind::answers ? grade_answers(part, request, task)
                        : task.kind == TaskKind::worklog
                            ? grade_work_log(part, request, tools, task, slots)
                            : grade_task(part, request, tools, built[i], slots);
    add_hints(task, shown, request.hint_cost, result);
    results.add(i, std::move(result), does_not_compile(built[i]));
  };
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < built.size(); ++i) {
    if (does_not_compile(built[i])) {
      grade_one(i);
    } else {
      others.push_back(i);
    }
  }
  for_each_index(others.size(), slots.count(), [&](std::size_t i) { grade_one(others[i]); });
  return results.take();
}

/// The tools with callbacks that several threads may call.
GradeTools with_locked_progress(const GradeTools& tools, std::mutex& mutex) {
  const auto locked = [&mutex](const auto& call) {
    return [&mutex, &call](const auto&... arguments) {
      const std::scoped_lock lock(mutex);
      if (call) call(arguments...);
    };
  };
  GradeTools all = tools;
  all.progress = locked(tools.progress);
  all.graded = locked(tools.graded);
  all.failing = locked(tools.failing);
  return all;
}

/// Adds to the task's first story which smaller problem a page shows, if that fails in the same
/// way.
void name_shown_problem(const Exploration& shown, std::vector<TaskResult>& tasks) {
  const auto task = std::ranges::find(tasks, shown.task, &TaskResult::id);
  if (shown.smaller.empty() || task == tasks.end() || task->diagnostics.empty()) return;
  Diagnostic& story = task->diagnostics.front();
  if (story.code == shown.code && story.smaller.empty()) {
    add_smaller_problem(story, shown.smaller);
  }
}

}  // namespace

const TaskSpec& find_task(const PartSpec& part, const std::string& id) {
  const auto found = std::ranges::find(part.tasks, id, &TaskSpec::id);
  if (found != part.tasks.end()) return *found;
  std::vector<std::string> names;
  for (const TaskSpec& task : part.tasks) names.push_back(task.id);
  throw UsageError(fmt::format("part {} has no task {}; its tasks are {}{}", part.number, id,
                               fmt::join(names, ", "), did_you_mean(id, names)));
}

GradeResult grade(const PartSpec& course, const GradeRequest& request, const GradeTools& tools) {
  const PartSpec part = with_targets_of(course, tools.device.gpu());
  const auto tasks = chosen_tasks(part, request);
  check_submission(part, request.submission);

  GradeResult result;
  result.part = part.number;
  result.title = part.title;
  result.ladders = part.ladders;
  result.device = tools.device.id();
  result.device_name = tools.device.name();
  result.time_kind = tools.device.time_kind();
  result.peaks = tools.device.peaks();
  result.seed = request.seed;
  result.submission = request.submission.string();

  std::mutex progress_mutex;
  const GradeTools shared = with_locked_progress(tools, progress_mutex);
  const auto build_start = Clock::now();
  const auto built = build_stage(part, request, shared, tasks);
  result.build_s = seconds_since(build_start);

  const auto run_start = Clock::now();
  result.tasks = run_stage(part, request, shared, built);
  result.run_s = seconds_since(run_start);
  if (tools.explore) {
    Exploration shown = explore(part, request, shared, built, result.tasks);
    name_shown_problem(shown, result.tasks);
    tools.explore(std::move(shown));
  }
  return result;
}

}  // namespace rooflab
