#include "grader/cli/task_files.h"

#include <fmt/format.h>

#include "grader/spec/files.h"
#include "grader/spec/fnv1a.h"

namespace rooflab {

TaskFiles::TaskFiles(const PartSpec& part, const std::filesystem::path& folder) : part_(&part) {
  for (const std::string& name : submitted_files(part)) {
    const SubmittedFile file = read_submitted(folder, name);
    const bool is_present = file.state == SubmittedFile::State::present;
    texts_[name] = is_present ? "text " + file.text : "none " + file.reason;
  }
}

/// A name anywhere in a text counts as an include: too many tasks cost time alone.
std::set<std::string> TaskFiles::files_of(const TaskSpec& task) const {
  std::set<std::string> files(task.uses.begin(), task.uses.end());
  files.insert(task.file);
  if (is_text(task)) return files;
  for (bool grows = true; grows;) {
    grows = false;
    for (const std::string& header : part_->headers) {
      if (files.contains(header)) continue;
      for (const std::string& file : files) {
        if (texts_.at(file).find("\"" + header + "\"") == std::string::npos) continue;
        grows = true;
        files.insert(header);
        break;
      }
    }
  }
  return files;
}

std::uint64_t TaskFiles::hash(const TaskSpec& task) const {
  std::string all;
  for (const std::string& file : files_of(task)) {
    all += fmt::format("{}:{}:", file, texts_.at(file).size()) + texts_.at(file);
  }
  return fnv1a(all);
}

std::vector<std::string> TaskFiles::tasks_changed_since(const TaskFiles& then) const {
  std::vector<std::string> changed;
  for (const TaskSpec& task : part_->tasks) {
    if (hash(task) != then.hash(task)) changed.push_back(task.id);
  }
  return changed;
}

}  // namespace rooflab
