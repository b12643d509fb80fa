#include "grader/batch/execute/clusters/slurm_array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <utility>

#include "grader/batch/execute/clusters/task_list.h"
#include "grader/spec/files.h"
#include "grader/spec/pattern.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

std::string random_array_name() {
  std::random_device random;
  return fmt::format("rooflab-{:08x}{:08x}", random(), random());
}

/// A word that no shell takes for anything but itself.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char letter : word)
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

std::string script_text(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  words.reserve(command.size());
  for (const std::string& word : command) words.push_back(quoted(word));
  return fmt::format("#!/bin/sh\nexec {} \"$SLURM_ARRAY_TASK_ID\"\n", fmt::join(words, " "));
}

bool will_run(const SlurmArray::Task& task) {
  if (!task.queued) return false;
  const TaskFate fate = fate_of(*task.queued);
  return fate == TaskFate::waiting || fate == TaskFate::running;
}

}  // namespace

SlurmArray::SlurmArray(fs::path folder, std::vector<Job> jobs)
    : name_(folder.filename()),
      folder_(std::move(folder)),
      jobs_(std::move(jobs)),
      tasks_(jobs_.size()) {}

SlurmArray SlurmArray::create(const fs::path& slurm_folder, const fs::path& grader,
                              const std::vector<Job>& jobs) {
  SlurmArray array(slurm_folder / random_array_name(), jobs);
  write_file_atomically(array.script(), script_text(task_command(grader, array.list())));
  write_task_list(array.list(), jobs);
  return array;
}

std::vector<SlurmArray> SlurmArray::find_all(const fs::path& slurm_folder) {
  static const Pattern ours("rooflab-[0-9a-f]{16}");
  std::vector<SlurmArray> arrays;
  std::error_code error;
  for (fs::directory_iterator entry(slurm_folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!ours.fits(entry->path().filename().string())) continue;
    std::vector<Job> jobs;
    try {
      jobs = read_task_list(entry->path() / "jobs.json");
    } catch (const FileError&) {
      // Its list is what an array begins with: without one nothing was submitted.
    }
    arrays.push_back(SlurmArray(entry->path(), std::move(jobs)));
  }
  std::sort(arrays.begin(), arrays.end(),
            [](const SlurmArray& a, const SlurmArray& b) { return a.name_ < b.name_; });
  return arrays;
}

std::string SlurmArray::message_of(std::size_t index) const {
  constexpr std::size_t kMost = 300;
  std::string text(kMost, '\0');
  std::ifstream file(folder_ / fmt::format("{}.txt", index));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char letter) { return letter < ' '; }, ' ');
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

bool SlurmArray::closed() const { return jobs_.empty() || is_closed(list()); }

bool SlurmArray::followed() const {
  return std::any_of(tasks_.begin(), tasks_.end(), [](const Task& task) { return task.followed; });
}

bool SlurmArray::active() const { return std::any_of(tasks_.begin(), tasks_.end(), will_run); }

bool SlurmArray::running() const {
  return std::any_of(tasks_.begin(), tasks_.end(), [](const Task& task) {
    return task.queued && fate_of(*task.queued) == TaskFate::running;
  });
}

void SlurmArray::update(const std::vector<QueuedTask>& queue) {
  const auto now = Clock::now();
  for (Task& task : tasks_) task.queued.reset();
  std::optional<QueuedTask> rest;
  for (const QueuedTask& queued : queue) {
    if (queued.array != name_) continue;
    if (!queued.index) {
      rest = queued;
      continue;
    }
    if (*queued.index >= tasks_.size()) {
      throw ExecutorError(
          fmt::format("Slurm has a task {} of {}, which has {}; cancel it with "
                      "scancel --name={}, and run the batch again",
                      *queued.index, name_, tasks_.size(), name_));
    }
    Task& task = tasks_[*queued.index];
    // A task that was submitted twice is followed as long as one of the two runs.
    if (!will_run(task)) task.queued = queued;
  }
  for (Task& task : tasks_) {
    if (!task.queued) task.queued = rest;
  }
  for (Task& task : tasks_) {
    if (will_run(task)) {
      task.gone_at.reset();
    } else if (!task.gone_at) {
      task.gone_at = now;
    }
  }
}

void SlurmArray::note_number(std::uint64_t number) const {
  write_file_atomically(folder_ / "number", fmt::format("{}\n", number));
}

void SlurmArray::close() const { close_task_list(list()); }

void SlurmArray::remove() const {
  std::error_code error;
  fs::remove_all(folder_, error);
}

}  // namespace rooflab
