#include "grader/spec/course_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "grader/spec/course_calendar.h"
#include "grader/spec/toml_reader.h"
#include "grader/spec/work_log.h"

namespace rooflab {
namespace {

bool repeats(std::vector<std::string> names) {
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end();
}

bool is_device(const std::string& device, const std::vector<std::string>& gpus) {
  if (device == "auto" || device == "cuda" || device == "sim") return true;
  if (device.starts_with("cuda:")) {
    return device.size() > 5 && device.find_first_not_of("0123456789", 5) == std::string::npos;
  }
  return device.starts_with("sim:") && std::ranges::find(gpus, device.substr(4)) != gpus.end();
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
  course.device = reader.text_or("device", course.device);
  if (!is_device(course.device, course.gpus)) {
    throw reader.error("device", fmt::format("\"{}\" is no device of the course", course.device),
                       fmt::format("write auto, cuda, cuda:0, sim or sim: with one of `gpus`, as "
                                   "sim:{}",
                                   course.gpus.front()));
  }
  reader.maybe("hints", [&](const toml::table& inner) {
    TableReader hints(inner, file, "[hints]");
    course.hint_cost = hints.number_or("cost", 0);
    if (!(course.hint_cost >= 0 && course.hint_cost <= 1)) {
      throw hints.error("cost", "it is a share of a task's points", "write a number from 0 to 1");
    }
    const bool on_honour = hints.boolean_or("on_honour", false);
    if (course.hint_cost > 0 && !on_honour) {
      throw hints.error("cost",
                        "how many hints were shown stands in a file that students hand in, so that "
                        "no price can be enforced",
                        "write on_honour = true below it to take students at their word, or cost "
                        "= 0");
    }
    hints.finish();
  });
  reader.maybe("questions", [&](const toml::table& inner) {
    TableReader questions(inner, file, "[questions]");
    course.own_numbers = questions.boolean_or("own_numbers", true);
    questions.finish();
  });
  reader.maybe("work_log", [&](const toml::table& inner) {
    TableReader log(inner, file, "[work_log]");
    const std::int64_t again = log.integer("grade_again");
    if (again < 0 || again > static_cast<std::int64_t>(kMostVersions)) {
      throw log.error("grade_again", "it is how many versions of a log are graded again",
                      fmt::format("write a number from 0 to {}", kMostVersions));
    }
    course.versions_graded_again = static_cast<int>(again);
    log.finish();
  });
  read_parts_and_calendar(reader, labs, course);
  reader.maybe("hand_in", [&](const toml::table& inner) {
    TableReader hand_in(inner, file, "[hand_in]");
    course.hand_in = hand_in.text("instructions");
    hand_in.finish();
  });
  reader.finish();
  return course;
}

CourseSpec course_spec_or_none(const std::filesystem::path& labs) {
  std::error_code error;
  if (!std::filesystem::exists(labs / "course.toml", error)) return {};
  return load_course_spec(labs);
}

double hint_cost_of(const std::filesystem::path& labs) {
  return course_spec_or_none(labs).hint_cost;
}

}  // namespace rooflab
