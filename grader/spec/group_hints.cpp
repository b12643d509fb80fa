#include "grader/spec/group_hints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grader/spec/groups.h"

namespace rooflab {
namespace {

void read_hints_of_task(const toml::table& table, const std::filesystem::path& file,
                        TaskSpec& task) {
  TableReader reader(table, file, fmt::format("[{}]", task.id));
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (const auto code = simgpu::Code::parse(name)) {
      task.mistake_hints[*code] = reader.text(name);
      continue;
    }
    const auto group = std::ranges::find(task.groups, name, &GroupSpec::name);
    if (group == task.groups.end()) {
      throw spec_error(file, node, fmt::format("task {} has no group \"{}\"", task.id, name),
                       fmt::format("name one of {}", fmt::join(names_of(task.groups), ", ")));
    }
    group->hints = read_hints(reader, name, fmt::format("group {} of task {}", name, task.id));
  }
}

}  // namespace

std::vector<std::string> read_hints(TableReader& reader, const std::string& key,
                                    const std::string& what) {
  constexpr std::size_t kSteps = 3;
  std::vector<std::string> hints = reader.texts(key);
  if (hints.size() != kSteps || std::ranges::find(hints, "") != hints.end()) {
    throw reader.error(key, fmt::format("{} does not have {} hints with a text", what, kSteps),
                       "write a question, an approach and a near-answer");
  }
  return hints;
}

void add_group_hints(const std::filesystem::path& file, PartSpec& part) {
  if (!std::filesystem::exists(file)) return;
  const toml::table table = parse_toml(file);
  TableReader reader(table, file, "hints");
  for (TaskSpec& task : part.tasks) {
    reader.maybe(task.id, [&](const toml::table& inner) { read_hints_of_task(inner, file, task); });
  }
  reader.finish();
}

}  // namespace rooflab
