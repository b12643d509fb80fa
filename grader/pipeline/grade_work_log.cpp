#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>

#include "grader/pipeline/grade_task.h"
#include "grader/pipeline/runs_ahead.h"
#include "grader/report/logged_runs.h"
#include "grader/report/measures.h"
#include "grader/report/text.h"
#include "grader/report/work_log.h"
#include "grader/spec/groups.h"
#include "grader/spec/similar_name.h"
#include "grader/spec/work_log.h"

namespace rooflab {
namespace {

constexpr double kSameTime = 0.005;  ///< of a modelled time, which is exact

/// A version of the log: what was written of it, and its run, where one was kept.
struct Version {
  WorkLogEntry entry;
  std::optional<LoggedRun> run;
  bool is_graded_again = false;
  std::string differs = {};
};

/// The versions of a log, by their numbers; of the runs only those of one kernel.
struct Log {
  std::string kernel;
  std::vector<Version> versions;
  std::vector<AnswerProblem> problems;
};

Log read_log(const PartSpec& part, const std::filesystem::path& folder, const std::string& text) {
  const SubmittedFile kept = read_submitted(folder, kLoggedRunsFile);
  std::vector<LoggedRun> runs;
  if (kept.state == SubmittedFile::State::present) runs = logged_runs_in(kept.text);
  std::erase_if(runs, [&](const LoggedRun& run) {
    const auto task = std::ranges::find(part.tasks, run.task, &TaskSpec::id);
    return task == part.tasks.end() || !may_be_logged(*task);
  });
  const WorkLogText written = read_work_log(text);
  Log log{.kernel = runs.empty() ? "" : runs.front().task,
          .versions = {},
          .problems = written.problems};
  for (int version = 1; version <= kLastVersion; ++version) {
    const auto run = std::ranges::find(runs, version, &LoggedRun::version);
    Version one{.entry = entry_of(written, version), .run = {}};
    if (run != runs.end() && run->task == log.kernel) one.run = std::move(*run);
    const bool is_written = std::ranges::find(written.entries, version, &WorkLogEntry::version) !=
                            written.entries.end();
    if ((is_written || one.run) && log.versions.size() < kMostVersions) {
      log.versions.push_back(std::move(one));
    }
  }
  return log;
}

/// Builds and times the kept files of versions: the student's figures are replaced by ours.
class Regrader {
 public:
  Regrader(const PartSpec& part, const GradeRequest& request, const GradeTools& tools,
           RunSlots& slots)
      : part_(part), request_(request), tools_(tools), slots_(slots) {
    // A version that fails is no failure of the submission.
    tools_.failing = {};
    tools_.graded = {};
    tools_.reveal = {};
    request_.task.reset();
  }

  void grade_again(Version& version) {
    const TaskSpec task = shortened(version.run->task);
    BuiltTask built{.task = &task, .files = {}, .build = {}};
    const std::vector<SourceFile> sources = sources_of(*version.run, task);
    for (const SourceFile& source : sources) {
      built.files.push_back({source.name, {SubmittedFile::State::present, source.text, {}}});
    }
    if (sources.empty() || sources.front().name != task.file) {
      version.differs = "its files were not kept whole, so that it could not be graded again";
      return;
    }
    tools_.progress(fmt::format("work log: version {}", version.entry.version));
    built.build = tools_.build(task, sources);
    take_figures(grade_task(part_, request_, tools_, built, slots_), version);
  }

 private:
  /// Enough of a task to see that a version is right, and how long it takes: a public case of each
  /// group, and the first timed case.
  TaskSpec shortened(const std::string& id) const {
    TaskSpec task = *std::ranges::find(part_.tasks, id, &TaskSpec::id);
    std::vector<CaseSpec> cases;
    for (const CaseSpec& spec : task.cases) {
      const bool is_new = std::ranges::find(cases, spec.group, &CaseSpec::group) == cases.end();
      const bool is_plain = !spec.hidden && spec.vast_gb == 0 && spec.peak.empty();
      if (is_new && is_plain) cases.push_back(spec);
    }
    task.cases = std::move(cases);
    task.speeds.resize(1);
    return task;
  }

  /// Of the kept files those that the task may have, its own first.
  std::vector<SourceFile> sources_of(const LoggedRun& run, const TaskSpec& task) const {
    std::vector<SourceFile> sources;
    const auto add = [&](const std::string& name, bool is_header) {
      const auto file = std::ranges::find(run.files, name, &LoggedFile::name);
      if (file != run.files.end()) sources.push_back({name, file->text, is_header});
    };
    add(task.file, false);
    for (const std::string& used : task.uses) add(used, false);
    for (const std::string& header : part_.headers) add(header, true);
    return sources;
  }

  void take_figures(const TaskResult& result, Version& version) const {
    LoggedRun& run = *version.run;
    if (result.verdict == Verdict::grader_fault || result.verdict == Verdict::not_applicable)
      return;
    if (result.timings.empty()) {
      version.differs =
          fmt::format("graded again it has no time: {}", verdict_words(result.verdict));
      return;
    }
    const Timing& timing = result.timings.front();
    const double share = std::abs(timing.time_us - run.time_us) / timing.time_us;
    const bool is_exact = tools_.device.time_kind() == "modelled";
    if (run.device != tools_.device.id()) {
      version.differs =
          fmt::format("logged on {}, where it took {}",
                      run.device.empty() ? "no device" : shorten(one_line(run.device), 40),
                      format_time_us(run.time_us));
    } else if (is_exact && share > kSameTime) {
      version.differs = fmt::format("the log says {}", format_time_us(run.time_us));
    }
    version.is_graded_again = true;
    run.device = tools_.device.id();
    run.timed = timing.name;
    run.time_us = timing.time_us;
    run.efficiency = timing.efficiency;
    run.limiter = timing.limit.what;
    run.measures = measures_of(result);
    run.counters = result.counters;
  }

  const PartSpec& part_;
  GradeRequest request_;
  GradeTools tools_;
  RunSlots& slots_;
};

/// The value of a counter in a run, where it is known.
std::optional<double> value_of(const NamedCounter& counter, const std::optional<LoggedRun>& run) {
  if (!run) return std::nullopt;
  const auto& known = counter.measure != nullptr ? run->measures : run->counters;
  const auto found = known.find(counter.name);
  if (found == known.end()) return std::nullopt;
  return found->second;
}

/// What a reader sees of a version.
/// @param before the version with a run before it; may be null
LoggedVersion row_of(const Version& version, const Version* before) {
  LoggedVersion row{.version = version.entry.version,
                    .hypothesis = version.entry.hypothesis,
                    .counter = version.entry.counter,
                    .result = version.entry.result,
                    .has_run = version.run.has_value()};
  row.is_graded_again = version.is_graded_again;
  row.differs = version.differs;
  if (!version.run) return row;
  const LoggedRun& run = *version.run;
  row.hash = hash_of(run.files);
  row.device = run.device;
  row.timed = run.timed;
  row.time_us = run.time_us;
  row.efficiency = run.efficiency;
  row.limiter = run.limiter;
  const auto counter = named_counter(version.entry.counter, run.counters);
  if (!counter) return row;
  const auto now = value_of(*counter, version.run);
  if (now) row.counter_now = format_counter(*counter, *now);
  const auto then = before == nullptr ? std::nullopt : value_of(*counter, before->run);
  if (!now || !then) return row;
  row.counter_before = format_counter(*counter, *then);
  row.is_compared = true;
  row.has_moved = has_moved(*counter, *then, *now);
  return row;
}

/// Whether a version names a counter that its run does not know. A real GPU counts nothing, so that
/// nobody knows what it could have counted.
bool has_wrong_counter(const Version& version) {
  const bool counts = version.run && !version.run->counters.empty();
  return counts && !version.entry.counter.empty() &&
         !named_counter(version.entry.counter, version.run->counters);
}

/// What a version lacks, a clause each.
std::vector<std::string> lacking(const Version& version) {
  std::vector<std::string> what;
  const WorkLogEntry& entry = version.entry;
  if (!version.run) what.emplace_back("no logged run");
  if (entry.hypothesis.empty()) what.push_back(fmt::format("no hypothesis_{}", entry.version));
  if (entry.counter.empty()) what.push_back(fmt::format("no counter_{}", entry.version));
  if (entry.result.empty()) what.push_back(fmt::format("no result_{}", entry.version));
  if (has_wrong_counter(version)) {
    const std::string name = shorten(one_line(entry.counter), 60);
    const auto names = measure_names();
    what.push_back(fmt::format("there is no counter \"{}\"{}", name, did_you_mean(name, names)));
  }
  return what;
}

/// The one story of all that is missing.
Diagnostic story_of(const PartSpec& part, const TaskSpec& task, const Log& log,
                    std::size_t complete) {
  Diagnostic story;
  story.code = "RL0408";
  story.message = fmt::format("the work log has {} complete version{} of the {} asked for",
                              complete, complete == 1 ? "" : "s", kVersionsAskedFor);
  story.file = task.file;
  bool lacks_counter = false;
  for (const Version& version : log.versions) {
    const auto what = lacking(version);
    if (what.empty()) continue;
    story.evidence.push_back(
        fmt::format("version {}: {}", version.entry.version, fmt::join(what, ", ")));
    lacks_counter = lacks_counter || has_wrong_counter(version);
  }
  if (lacks_counter) {
    story.notes.push_back(fmt::format(
        "a counter is one of: {}; or a name of Nsight Compute from the report of the kernel",
        fmt::join(measure_names(), ", ")));
  }
  const std::string kernel =
      log.kernel.empty() ? std::ranges::find_if(part.tasks, may_be_logged)->id : log.kernel;
  story.help = "change one thing, say what you expect of it, and grade the kernel with --log";
  story.commands = {
      {"next version",
       fmt::format("grader --part {} --task {} --log \"what you expect\"", part.number, kernel)},
      {"next hint", fmt::format("grader --part {} --task {} --hint", part.number, task.id)}};
  return story;
}

/// A file in which nothing is written, with no run beside it.
Diagnostic nothing_logged(const PartSpec& part, const TaskSpec& task) {
  Diagnostic story = story_of(part, task, {}, 0);
  story.code = "RL0601";
  story.message = "no version is logged yet: grade a kernel with --log \"what you expect\"";
  return story;
}

}  // namespace

TaskResult grade_work_log(const PartSpec& part, const GradeRequest& request,
                          const GradeTools& tools, const TaskSpec& task, RunSlots& slots) {
  const auto folder = request.submission / part.directory;
  const SubmittedFile file = read_submitted(folder, task.file);
  if (auto refused = refused_text(part, task, file)) return *refused;
  Log log = read_log(part, folder, file.text);
  Regrader regrader(part, request, tools, slots);
  auto left = request.versions_graded_again;
  for (Version& version : log.versions | std::views::reverse) {
    if (version.run && left-- > 0) regrader.grade_again(version);
  }

  TaskResult result = blank_result(task);
  if (log.versions.empty() && log.problems.empty()) {
    fail_all(result, Verdict::not_implemented);
    result.diagnostics = {nothing_logged(part, task)};
    return result;
  }
  WorkLog shown{.kernel = log.kernel, .versions = {}};
  std::size_t with_run = 0, complete = 0;
  const Version* before = nullptr;
  for (const Version& version : log.versions) {
    shown.versions.push_back(row_of(version, before));
    if (!version.differs.empty()) {
      result.for_people.push_back(
          fmt::format("version {} of the work log: {}", version.entry.version, version.differs));
    }
    if (version.run) before = &version;
    with_run += version.run ? 1 : 0;
    complete += lacking(version).empty() ? 1 : 0;
  }
  // A log that is not finished is no wrong one.
  const bool has_mistake = std::ranges::any_of(log.versions, has_wrong_counter);
  const Verdict unfinished = has_mistake ? Verdict::wrong_answer : Verdict::not_implemented;
  const auto settle = [&](const char* name, std::size_t count) {
    const auto group = std::ranges::find(result.groups, name, &GroupResult::name);
    const bool passes = count >= static_cast<std::size_t>(kVersionsAskedFor);
    group->verdict = passes ? Verdict::pass : unfinished;
    group->score = passes ? group->max_score : 0;
    result.score += group->score;
    if (is_worse(group->verdict, result.verdict)) result.verdict = group->verdict;
  };
  settle(kLoggedVersions, with_run);
  settle(kLogEntries, complete);
  if (result.verdict != Verdict::pass) {
    result.diagnostics.push_back(story_of(part, task, log, complete));
  }
  for (const AnswerProblem& problem : log.problems) {
    result.diagnostics.push_back(unreadable_line(part, task, problem));
  }
  result.summary = work_log_words(shown);
  result.work_log = std::move(shown);
  return result;
}

}  // namespace rooflab
