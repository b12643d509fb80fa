#include "grader/cli/log_version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grader/cli/typed_commands.h"
#include "grader/pipeline/grade.h"
#include "grader/report/measures.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

const TaskSpec& log_of(const PartSpec& part) {
  const TaskSpec* log = work_log_task(part);
  if (log == nullptr) {
    throw UsageError(fmt::format("part {} asks for no work log; leave out --log", part.number));
  }
  return *log;
}

const TaskSpec& loggable(const PartSpec& part, const std::string& id) {
  const TaskSpec& task = find_task(part, id);
  if (may_be_logged(task)) return task;
  std::vector<std::string> names;
  for (const TaskSpec& other : part.tasks) {
    if (may_be_logged(other)) names.push_back(other.id);
  }
  throw UsageError(fmt::format("{} has no time, and a work log is about a time; log one of {}", id,
                               fmt::join(names, ", ")));
}

/// The counters that moved most from one version to the next: "bank conflicts 31 % -> 0 %".
std::string moved_counters(const LoggedRun& before, const LoggedRun& now) {
  constexpr std::size_t kMost = 3;
  std::vector<std::pair<double, std::string>> moved;
  for (const Measure& measure : measures()) {
    const auto then = before.measures.find(measure.full_name);
    const auto next = now.measures.find(measure.full_name);
    if (then == before.measures.end() || next == now.measures.end()) continue;
    const double distance = distance_of(then->second, next->second, measure.little);
    if (distance < kMovedDistance) continue;
    moved.emplace_back(distance,
                       fmt::format("{} {} -> {}", measure.full_name, measure.format(then->second),
                                   measure.format(next->second)));
  }
  std::ranges::sort(moved, std::greater());
  if (moved.size() > kMost) moved.resize(kMost);
  std::vector<std::string> words;
  for (auto& [distance, text] : moved) words.push_back(std::move(text));
  return fmt::format("{}", fmt::join(words, " · "));
}

}  // namespace

VersionLog::VersionLog(const PartSpec& part, const std::string& task,
                       const std::filesystem::path& submission, const std::string& hypothesis)
    : part_(part),
      task_(loggable(part, task)),
      folder_(submission / part.directory),
      log_file_(folder_ / log_of(part).file),
      hypothesis_(one_line(hypothesis)) {
  const SubmittedFile text = read_submitted(folder_, log_file_.filename());
  if (text.state == SubmittedFile::State::refused ||
      text.state == SubmittedFile::State::unreadable) {
    throw UsageError(fmt::format("cannot read {}: {}", log_file_.string(), text.reason));
  }
  written_ = text.text;
  log_ = read_work_log(written_);
  const SubmittedFile kept = read_submitted(folder_, kLoggedRunsFile);
  if (kept.state == SubmittedFile::State::present) runs_ = logged_runs_in(kept.text);
  if (!runs_.empty()) version_ = runs_.back().version + 1;
  files_ = read_files();
  refuse_what_is_logged();
  make_room();
  if (hypothesis_.empty() && entry_of(log_, version_).hypothesis.empty()) {
    throw UsageError(fmt::format(
        "say what you expect of this version, as in --log \"padding removes the bank conflicts\", "
        "or write hypothesis_{} in {}",
        version_, typed_path(log_file_)));
  }
}

std::vector<LoggedFile> VersionLog::read_files() const {
  std::vector<std::string> names = {task_.file};
  names.insert(names.end(), task_.uses.begin(), task_.uses.end());
  names.insert(names.end(), part_.headers.begin(), part_.headers.end());
  std::vector<LoggedFile> files;
  for (const std::string& name : names) {
    SubmittedFile file = read_submitted(folder_, name);
    if (file.state == SubmittedFile::State::present) files.push_back({name, std::move(file.text)});
  }
  return files;
}

void VersionLog::refuse_what_is_logged() const {
  if (runs_.empty()) return;
  const LoggedRun& last = runs_.back();
  if (last.task != task_.id) {
    throw UsageError(fmt::format(
        "the work log is about {}, and has versions of it; a log has one kernel: remove {} and the "
        "entries of {} to begin another",
        one_line(last.task), typed_path(folder_ / kLoggedRunsFile), typed_path(log_file_)));
  }
  if (hash_of(last.files) == hash_of(files_)) {
    throw UsageError(fmt::format("{} is as it was in version {}: change it, then log it",
                                 task_.file, last.version));
  }
}

/// A full log loses the runs that its student has removed the entry of.
void VersionLog::make_room() {
  if (runs_.size() < kMostVersions) return;
  std::erase_if(runs_, [&](const LoggedRun& run) {
    const WorkLogEntry entry = entry_of(log_, run.version);
    return entry.hypothesis.empty() && entry.counter.empty() && entry.result.empty();
  });
  if (runs_.size() < kMostVersions) return;
  throw UsageError(
      fmt::format("the work log has {} versions, which is all it holds; remove the "
                  "lines of one that shows little from {}",
                  kMostVersions, typed_path(log_file_)));
}

/// Why a run is no version; empty where it is one.
std::string VersionLog::why_not(const TaskResult& task) const {
  if (task.verdict != Verdict::pass || task.timings.empty()) {
    return fmt::format("{} does not pass, so that it has no time", task_.id);
  }
  if (task.timings.front().at_least) return "it is too slow to be timed in full";
  if (hash_of(read_files()) != hash_of(files_)) {
    return fmt::format("{} was saved while it was graded; grade it again", task_.file);
  }
  std::size_t size = 0;
  for (const LoggedFile& file : files_) size += file.text.size();
  if (size > kLargestVersion) {
    return fmt::format("its files have {} and a version keeps {} at most",
                       format_bytes(static_cast<double>(size)),
                       format_bytes(static_cast<double>(kLargestVersion)));
  }
  return {};
}

std::string VersionLog::keep(const GradeResult& result) {
  const auto task = std::ranges::find(result.tasks, task_.id, &TaskResult::id);
  if (task == result.tasks.end()) return {};
  if (const std::string why = why_not(*task); !why.empty()) {
    return fmt::format("not logged: {}\n", why);
  }
  const Timing& timing = task->timings.front();
  LoggedRun run{.version = version_,
                .task = task_.id,
                .device = result.device,
                .timed = timing.name,
                .time_us = timing.time_us,
                .efficiency = timing.efficiency,
                .limiter = timing.limit.what,
                .measures = measures_of(*task),
                .counters = task->counters,
                .files = files_};
  std::vector<LoggedRun> all = runs_;
  all.push_back(run);
  write_file_atomically(folder_ / kLoggedRunsFile, logged_runs_text(all));
  if (entry_of(log_, version_).hypothesis.empty()) {
    write_file_atomically(log_file_, with_entry(written_, version_, hypothesis_));
  }
  return told(run);
}

std::string VersionLog::told(const LoggedRun& run) const {
  std::string words = fmt::format("logged as version {} in {}: {}", run.version,
                                  typed_path(log_file_), format_time_us(run.time_us));
  if (!runs_.empty()) {
    const LoggedRun& before = runs_.back();
    words +=
        fmt::format(", after {} in version {}", format_time_us(before.time_us), before.version);
    const std::string moved = moved_counters(before, run);
    words += "\n  counters: " + (moved.empty() ? std::string("none moved by a fifth") : moved);
  }
  const WorkLogEntry entry = entry_of(log_, run.version);
  std::vector<std::string> open;
  if (entry.counter.empty()) open.push_back(fmt::format("counter_{}", run.version));
  if (entry.result.empty()) open.push_back(fmt::format("result_{}", run.version));
  if (!open.empty())
    words += fmt::format("\n  still to be written there: {}", fmt::join(open, ", "));
  return words + "\n";
}

}  // namespace rooflab
