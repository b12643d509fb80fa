#include "grader/cli/editor_output.h"

#include <system_error>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

simgpu::sarif::Page page_of(simgpu::Code code, const fs::path& handouts) {
  const fs::path file = handouts / "errors" / (code.text() + ".md");
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};  // of a course's own code there may be none
  return {.uri = simgpu::sarif::uri_of(fs::absolute(file)), .markdown = read_file(file)};
}

/// The folder by its name from here, where it lies below this one; else by its whole path.
fs::path from_here(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(folder, error);
  const fs::path here = error ? fs::path() : fs::weakly_canonical(fs::current_path(error), error);
  if (error) return folder;
  const fs::path below = whole.lexically_relative(here);
  const bool is_below = !below.empty() && *below.begin() != "..";
  return is_below ? below.lexically_normal() : whole;
}

}  // namespace

EditorOutput::EditorOutput(const PartSpec& part, const fs::path& submission)
    : places_{.folder = part.directory}, submission_(submission) {
  for (const TaskSpec& task : part.tasks) places_.files[task.id] = task.file;
}

std::string EditorOutput::sarif(const GradeResult& result, const fs::path& handouts) const {
  std::error_code error;
  const fs::path base = fs::weakly_canonical(fs::absolute(submission_), error);
  return simgpu::sarif::document_of({.tool = "grader",
                                     .version = ROOFLAB_VERSION,
                                     .base = error ? submission_ : base,
                                     .results = editor_results(result, places_)},
                                    [&](simgpu::Code code) { return page_of(code, handouts); });
}

std::string EditorOutput::problems(const GradeResult& result) const {
  const fs::path folder = from_here(submission_);
  return problem_lines(editor_results(result, places_), folder == "." ? fs::path() : folder);
}

}  // namespace rooflab
