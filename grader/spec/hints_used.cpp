#include "grader/spec/hints_used.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "grader/spec/files.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

/// A part has some ten tasks with up to twenty groups; a file of this size names hundreds.
constexpr std::size_t kLargestHints = 16U << 10;

}  // namespace

std::string hints_name(const TaskSpec& task) { return task.id; }

std::string hints_name(const TaskSpec& task, const GroupSpec& group) {
  return task.id + "/" + group.name;
}

std::string hints_name(const TaskSpec& task, simgpu::Code code) {
  return task.id + "/" + code.text();
}

std::map<std::string, int> hints_in(const std::string& text, const PartSpec& part) {
  if (text.size() > kLargestHints) return {};
  try {
    const toml::table table = parse_toml_text(text, kHintsUsedFile);
    std::map<std::string, int> shown;
    const auto take = [&](const std::string& name, const std::vector<std::string>& hints) {
      const auto count = table[name].value_exact<std::int64_t>();
      const auto most = static_cast<std::int64_t>(hints.size());
      if (count && *count >= 1 && *count <= most) shown[name] = static_cast<int>(*count);
    };
    for (const TaskSpec& task : part.tasks) {
      take(hints_name(task), task.hints);
      for (const GroupSpec& group : task.groups) take(hints_name(task, group), group.hints);
    }
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      const bool is_of_mistake = std::ranges::any_of(part.tasks, [&](const TaskSpec& task) {
        const auto code = simgpu::Code::parse(name.substr(name.rfind('/') + 1));
        return code && name == hints_name(task, *code);
      });
      if (is_of_mistake && node.value_exact<std::int64_t>() == 1) shown[name] = 1;
    }
    return shown;
  } catch (const SpecError&) {
    return {};
  }
}

std::map<std::string, int> read_hints_used(const std::filesystem::path& folder,
                                           const PartSpec& part) {
  const SubmittedFile file = read_submitted(folder, kHintsUsedFile);
  if (file.state != SubmittedFile::State::present) return {};
  return hints_in(file.text, part);
}

void write_hints_used(const std::filesystem::path& folder,
                      const std::map<std::string, int>& shown) {
  std::string text =
      "# Written by grader --hint: how many hints of each task were shown. Hand it in with the "
      "rest.\n";
  for (const auto& [name, count] : shown) {
    const bool is_bare = name.find('/') == std::string::npos;
    text +=
        is_bare ? fmt::format("{} = {}\n", name, count) : fmt::format("\"{}\" = {}\n", name, count);
  }
  write_file_atomically(folder / kHintsUsedFile, text);
}

}  // namespace rooflab
