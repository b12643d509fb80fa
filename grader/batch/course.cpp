#include "grader/batch/course.h"

#include "grader/batch/course_versions.h"
#include "grader/batch/fingerprint.h"
#include "grader/spec/course_spec.h"
#include "grader/spec/handed_out.h"

namespace rooflab {
namespace {

std::string key_file_of(const TaskSpec& task) {
  return std::filesystem::path(task.file).stem().string() + ".key.toml";
}

/// A work log is one question to the people who read it.
TaskSpec questions_of(const TaskSpec& task) {
  TaskSpec asked = task;
  if (task.kind == TaskKind::worklog) asked.questions = questions_for_people(task);
  return asked;
}

/// The keys of a part's questions, work logs among them.
std::map<std::string, AnswerKey> keys_of(const PartSpec& part,
                                         const std::filesystem::path& solutions) {
  std::map<std::string, AnswerKey> keys;
  for (const TaskSpec& task : part.tasks) {
    const auto file = solutions / part.directory / key_file_of(task);
    if (!is_text(task) || !std::filesystem::exists(file)) continue;
    keys.merge(load_answer_key(file, questions_of(task)));
  }
  return keys;
}

}  // namespace

std::vector<std::string> Course::wanted_files() const {
  std::vector<std::string> wanted;
  for (const PartSpec& part : parts) {
    for (const std::string& file : files_to_hand_in(part)) {
      wanted.push_back(part.directory + "/" + file);
    }
  }
  return wanted;
}

SourceFiles Course::files_of(const PartSpec& part, const SourceFiles& files) {
  SourceFiles some;
  for (const auto& [path, content] : files) {
    if (path.starts_with(part.directory + "/")) some.emplace(path, content);
  }
  return some;
}

Course load_course(const Installation& installation, const Toolchain& toolchain,
                   const std::vector<int>& parts) {
  Course course;
  const CourseSpec spec = course_spec_or_none(installation.labs());
  course.hint_cost = spec.hint_cost;
  course.versions_graded_again = spec.versions_graded_again;
  for (const int number : parts) {
    PartSpec part = load_part(installation.labs(), installation.solutions(), number);
    course.versions[number] = versions_of(installation, toolchain, spec, part);
    course.keys[number] = keys_of(part, installation.solutions());
    course.parts.push_back(std::move(part));
  }
  return course;
}

std::string source_hash(int part, const SourceFiles& files) {
  Fingerprint print;
  print.add(std::to_string(part));
  for (const auto& [path, content] : files) print.add(path).add(content);
  return print.hex();
}

}  // namespace rooflab
