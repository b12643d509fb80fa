#include "grader/batch/course_versions.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <sstream>

#include "grader/batch/fingerprint.h"
#include "grader/spec/group_hints.h"
#include "grader/spec/targets.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

const std::vector<std::string> kTextsOfPart = {"title",
                                               "task.title",
                                               "task.hints",
                                               "task.question.prompt",
                                               "task.question.choices",
                                               "task.group.title",
                                               "task.ratio.cause",
                                               "ladder.title"};

/// The texts stay as empty strings: how many choices a question has decides which answers it takes,
/// and whether there is a hint decides whether it can cost points.
void blank(toml::node& node) {
  if (auto* text = node.as_string()) *text = "";
  if (auto* array = node.as_array()) {
    for (toml::node& one : *array) blank(one);
  }
}

/// Blanks what lies at a path below a table; arrays of tables are gone through.
void blank_at(toml::node& node, std::span<const std::string> path) {
  if (path.empty()) return blank(node);
  if (auto* array = node.as_array()) {
    for (toml::node& one : *array) blank_at(one, path);
  }
  auto* table = node.as_table();
  if (table == nullptr) return;
  for (auto&& [key, value] : *table) {
    if (path.front() == "*" || path.front() == key.str()) blank_at(value, path.subspan(1));
  }
}

std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> steps;
  std::istringstream text(path);
  for (std::string step; std::getline(text, step, '.');) steps.push_back(step);
  return steps;
}

/// The programs and libraries that grade, whatever the part.
std::string grader_print(const Installation& installation, const Toolchain& toolchain) {
  Fingerprint print;
  for (const char* program :
       {"rooflab-teach", "rooflab-guest", "rooflab-sandboxed", "simgpu-device"}) {
    print.add_file(installation.build / "bin" / program);
  }
  print.add_file(installation.build / "lib" / "simgpu");
  print.add_file(installation.gpus());
  print.add_file(installation.labs() / "toolkit");
  print.add_file(installation.toolkit_archive());
  return print.add(toolchain.version)
      .add(toolchain.ptxas_version)
      .add(toolchain.host_compiler)
      .hex();
}

std::string part_print(const Installation& installation, const CourseSpec& course,
                       const PartSpec& part) {
  Fingerprint print;
  print.add(fmt::format("hints {} own numbers {} versions {}", course.hint_cost, course.own_numbers,
                        course.versions_graded_again));
  print.add(deciding_toml(part.root / "part.toml", kTextsOfPart));
  print.add(deciding_toml(part.root / kHintsFile, {"*.*"}));
  print.add(deciding_toml(part.root / kTargetsFile, {}));
  print.add_file(part.root / "interface");
  print.add_file(installation.oracle_library(part.directory));
  print.add_file(installation.oracle_library(part.directory).replace_extension());
  print.add(deciding_toml(installation.solutions() / part.directory / "answers.key.toml",
                          {"*.why", "*.slips.cause", "*.rubric.text"}));
  return print.hex();
}

/// The fingerprint of that name in a line; nothing where an older grader wrote it.
std::optional<std::string> print_in(const std::string& versions, const std::string& name) {
  for (const char* before : {"(", ", "}) {
    const std::string mark = before + name + " ";
    const std::size_t at = versions.find(mark);
    if (at == std::string::npos) continue;
    const std::size_t begin = at + mark.size();
    return versions.substr(begin, versions.find_first_of(",)", begin) - begin);
  }
  return std::nullopt;
}

}  // namespace

std::string deciding_toml(const std::filesystem::path& file,
                          const std::vector<std::string>& texts) {
  if (!std::filesystem::exists(file)) return "nothing";
  toml::table table = parse_toml(file);
  for (const std::string& path : texts) blank_at(table, steps_of(path));
  std::ostringstream text;
  text << toml::toml_formatter(table);
  return text.str();
}

std::string versions_of(const Installation& installation, const Toolchain& toolchain,
                        const CourseSpec& course, const PartSpec& part) {
  constexpr std::size_t kShown = 12;
  const auto shown = [](const std::string& print) { return print.substr(0, kShown); };
  const auto hidden = installation.solutions() / part.directory / "hidden.toml";
  return fmt::format(
      "rooflab {} (grader {}, part {}, hidden {}), CUDA {}", ROOFLAB_VERSION,
      shown(grader_print(installation, toolchain)), shown(part_print(installation, course, part)),
      shown(Fingerprint().add(deciding_toml(hidden, {})).hex()), toolchain.release());
}

bool differs_in(const std::string& versions, const std::string& others, const std::string& name) {
  const auto print = print_in(versions, name);
  return !print || print != print_in(others, name);
}

}  // namespace rooflab
