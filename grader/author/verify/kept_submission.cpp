#include "grader/author/verify/kept_submission.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/spec/files.h"
#include "grader/spec/work_log.h"

namespace rooflab::verify {
namespace {

const TaskSpec* named_task(const PartSpec& part, const std::string& id) {
  const auto found = std::ranges::find(part.tasks, id, &TaskSpec::id);
  return found == part.tasks.end() ? nullptr : &*found;
}

}  // namespace

void load_kept(const PartSpec& part, const std::string& folder, const std::string& file,
               const std::string& what, const ReadRest& read_rest) {
  std::vector<std::filesystem::path> folders;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(part.root / folder, none)) {
    if (entry.is_directory()) folders.push_back(entry.path());  // the others are notes on them all
  }
  std::ranges::sort(folders);
  for (const std::filesystem::path& one : folders) {
    const toml::table table = parse_toml(one / file);
    TableReader reader(table, one / file, what);
    KeptSubmission kept;
    kept.name = one.filename().string();
    kept.folder = one;
    kept.task = reader.text("task");
    const TaskSpec* task = named_task(part, kept.task);
    if (task == nullptr) {
      throw reader.error("task", fmt::format("part {} has no task \"{}\"", part.number, kept.task),
                         "name one of part.toml");
    }
    kept.story = reader.text("story");
    read_rest(kept, reader, table, *task);
    reader.finish();
  }
}

std::vector<std::string> files_of(const PartSpec& part, const TaskSpec& task) {
  std::vector<std::string> files = part.headers;
  files.insert(files.end(), task.uses.begin(), task.uses.end());
  files.push_back(task.file);
  return files;
}

void write_files(const PartSpec& part, const std::string& task,
                 const std::filesystem::path& submission,
                 const std::function<std::string(const std::string& name)>& source_of) {
  const TaskSpec& spec = *named_task(part, task);
  std::vector<std::string> names = files_of(part, spec);
  if (spec.kind == TaskKind::worklog) names.emplace_back(kLoggedRunsFile);
  for (const std::string& name : names) {
    write_file_atomically(submission / part.directory / name, source_of(name));
  }
}

}  // namespace rooflab::verify
