#include "grader/spec/course_spec.h"

#include <algorithm>

#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

bool repeats(std::vector<std::string> names) {
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end();
}

}  // namespace

CourseSpec load_course_spec(const std::filesystem::path& labs) {
  const std::filesystem::path file = labs / "course.toml";
  const toml::table table = parse_toml(file);
  TableReader reader(table, file, "the course");
  CourseSpec course;
  course.title = reader.text("title");
  course.version = reader.text_or("version", "");
  course.gpus = reader.texts("gpus");
  if (course.gpus.empty() || repeats(course.gpus)) {
    throw reader.error("gpus", "the course names no GPU, or one twice",
                       "list files of specs/gpus, without .toml, each once");
  }
  reader.maybe("hints", [&](const toml::table& inner) {
    TableReader hints(inner, file, "[hints]");
    course.hint_cost = hints.number_or("cost", 0);
    if (!(course.hint_cost >= 0 && course.hint_cost <= 1)) {
      throw hints.error("cost", "it is a share of a task's points", "write a number from 0 to 1");
    }
    hints.finish();
  });
  reader.finish();
  return course;
}

double hint_cost_of(const std::filesystem::path& labs) {
  std::error_code error;
  return std::filesystem::exists(labs / "course.toml", error) ? load_course_spec(labs).hint_cost
                                                              : 0;
}

}  // namespace rooflab
