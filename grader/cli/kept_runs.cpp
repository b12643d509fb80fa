#include "grader/cli/kept_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <sstream>
#include <utility>
#include <vector>

#include "grader/report/evidence.h"
#include "grader/report/since_last_run.h"
#include "grader/spec/files.h"
#include "grader/spec/fnv1a.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = std::size_t{1} << 20;
constexpr std::size_t kMostSubmissions = 64;

const TaskResult* find(const GradeResult& result, const std::string& task) {
  const auto found = std::ranges::find(result.tasks, task, &TaskResult::id);
  return found == result.tasks.end() ? nullptr : &*found;
}

/// What later runs are compared with: no output of the student's, and of stories the first one's
/// place.
TaskResult trimmed(TaskResult task) {
  task.printed.clear();
  task.artifacts.clear();
  task.since_last_run.reset();
  if (task.diagnostics.size() > 1) task.diagnostics.resize(1);
  for (Diagnostic& story : task.diagnostics) {
    story = {.code = story.code,
             .message = story.message,
             .file = story.file,
             .line = story.line,
             .context = {},
             .labels = {},
             .evidence = {},
             .pattern = {},
             .notes = {},
             .help = {},
             .commands = {}};
  }
  return task;
}

fs::file_time_type time_of(const fs::path& path) {
  std::error_code error;
  const auto time = fs::last_write_time(path, error);
  return error ? fs::file_time_type::min() : time;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    entries.push_back(at->path());
  }
  return entries;
}

}  // namespace

KeptRuns::KeptRuns(const fs::path& cache, const fs::path& submission) : runs_(cache / "runs") {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(submission, error);
  submission_ = (error ? submission : real).string();
  // Should two paths share a number, they replace each other's runs: the file names its own.
  folder_ = runs_ / fmt::format("{:016x}", fnv1a(submission_));
}

fs::path KeptRuns::file(int part, const std::string& device) const {
  std::string plain = device;
  std::ranges::replace_if(
      plain, [](char c) { return c == '/' || c == ':' || c == '.'; }, '-');
  return folder_ / fmt::format("part{}-{}.json", part, plain);
}

std::optional<GradeResult> KeptRuns::read(const fs::path& file) const {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  try {
    GradeResult result = from_evidence(read_file(file, kLargestFile));
    if (result.submission == submission_) return result;
  } catch (const FileError&) {
  } catch (const EvidenceError&) {
  }
  return std::nullopt;
}

std::optional<GradeResult> KeptRuns::last(int part, const std::string& device) const {
  auto result = read(file(part, device));
  if (!result || result->part != part || result->device != device) return std::nullopt;
  return result;
}

std::optional<GradeResult> KeptRuns::latest(int part) const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const fs::path& path : entries_of(folder_)) {
    const bool ours = path.filename().string().starts_with(fmt::format("part{}-", part));
    if (ours && path.extension() == ".json") files.emplace_back(time_of(path), path);
  }
  std::ranges::sort(files, std::greater());
  for (const auto& [time, path] : files) {
    auto result = read(path);
    if (result && result->part == part) return result;
  }
  return std::nullopt;
}

fs::path KeptRuns::hash_file(int part, const std::string& device) const {
  return file(part, device).replace_extension(".files");
}

TaskHashes KeptRuns::hashes(int part, const std::string& device) const {
  TaskHashes known;
  const fs::path from = hash_file(part, device);
  std::error_code error;
  if (!fs::is_regular_file(from, error)) return known;
  try {
    std::istringstream words(read_file(from, kLargestFile));
    std::uint64_t hash = 0;
    for (std::string task; words >> task >> hash;) known[task] = hash;
  } catch (const FileError&) {  // then nothing is known
  }
  return known;
}

void KeptRuns::keep(const PartSpec& part, const GradeResult& result,
                    const TaskHashes& hashes) const {
  const auto known = last(result.part, result.device);
  GradeResult kept = result;
  kept.submission = submission_;
  kept.tasks.clear();
  for (const TaskSpec& spec : part.tasks) {
    const TaskResult* task = find(result, spec.id);
    if (task != nullptr && task->verdict == Verdict::grader_fault) task = nullptr;
    if (task == nullptr && known) task = find(*known, spec.id);
    if (task != nullptr) kept.tasks.push_back(trimmed(*task));
  }
  const std::string text = to_evidence(kept);
  if (text.size() > kLargestFile) return;
  TaskHashes all = this->hashes(result.part, result.device);
  for (const auto& [task, hash] : hashes) all[task] = hash;
  std::string lines;
  for (const auto& [task, hash] : all) lines += fmt::format("{} {}\n", task, hash);
  try {
    write_file_atomically(file(result.part, result.device), text);
    write_file_atomically(hash_file(result.part, result.device), lines);
    prune();
  } catch (const FileError&) {  // a grade is a grade without a cache
  }
}

void KeptRuns::prune() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> folders;
  for (const fs::path& path : entries_of(runs_)) folders.emplace_back(time_of(path), path);
  if (folders.size() <= kMostSubmissions) return;
  std::ranges::sort(folders);
  std::error_code ignored;
  for (std::size_t i = 0; i + kMostSubmissions < folders.size(); ++i) {
    if (folders[i].second != folder_) fs::remove_all(folders[i].second, ignored);
  }
}

void add_comparison(const KeptRuns& runs, GradeResult& result) {
  const auto before = runs.last(result.part, result.device);
  if (!before) return;
  for (TaskResult& task : result.tasks) {
    const TaskResult* then = find(*before, task.id);
    if (then == nullptr || task.verdict == Verdict::grader_fault) continue;
    task.since_last_run = compare_runs(*then, task, result.time_kind == "measured");
  }
}

}  // namespace rooflab
