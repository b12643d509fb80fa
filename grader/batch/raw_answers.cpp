#include "grader/batch/raw_answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/batch/outputs/write_outputs.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

bool is_read_by_people(const TaskSpec& task) { return !questions_for_people(task).empty(); }

}  // namespace

void write_raw_answers(const std::filesystem::path& folder, Store& store, const Course& course) {
  for (const SubmissionRow& submission : store.submissions()) {
    if (!submission.counts) continue;
    for (const auto& [number, source] : store.handed_in(submission.id)) {
      const auto part = std::ranges::find(course.parts, number, &PartSpec::number);
      if (part == course.parts.end()) continue;
      const SourceFiles files = store.source(source);
      for (const TaskSpec& task : part->tasks) {
        const auto file = files.find(part->directory + "/" + task.file);
        if (!is_read_by_people(task) || file == files.end()) continue;
        write_file_atomically(
            folder / "answers" /
                fmt::format("{}-part{}-{}", file_stem(submission.student), number, task.file),
            file->second);
      }
    }
  }
}

}  // namespace rooflab
