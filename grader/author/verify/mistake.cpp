#include "grader/author/verify/mistake.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grader/spec/files.h"
#include "grader/spec/groups.h"
#include "grader/spec/toml_reader.h"

namespace rooflab::verify {
namespace {

constexpr const char* kFile = "mistake.toml";

Verdict read_verdict(TableReader& reader) {
  const std::string name = reader.text("verdict");
  const auto verdict = verdict_of(name);
  if (!verdict) {
    throw reader.error("verdict", fmt::format("there is no verdict \"{}\"", name),
                       "write one of docs/design/parts.md, as in \"wrong-answer\"");
  }
  return *verdict;
}

std::optional<Recognition> read_judged(TableReader& reader) {
  const std::string name = reader.text_or("judged", "");
  if (name.empty()) return std::nullopt;
  for (const Recognition one : kRecognitions) {
    if (name == name_of(one)) return one;
  }
  throw reader.error("judged", fmt::format("\"{}\" is no judgement", name),
                     "write \"recognised\", \"unrecognised\" or \"wrongly recognised\"");
}

std::vector<std::string> names_of_groups(const TaskSpec& task) {
  std::vector<std::string> names;
  for (const GroupSpec& group : task.groups) names.push_back(group.name);
  return names;
}

/// The groups that a mistake loses: those that it names, or all of a failure and none of a pass.
std::vector<std::string> read_loses(TableReader& reader, const TaskSpec& task, Verdict verdict) {
  const bool passes = verdict == Verdict::pass || verdict == Verdict::suspect;
  if (!reader.has("loses")) return passes ? std::vector<std::string>() : names_of_groups(task);
  std::vector<std::string> loses = reader.texts("loses");
  for (const std::string& name : loses) require_group(reader, "loses", task, name);
  if (loses.empty() != passes && verdict != Verdict::suspect) {
    throw reader.error(
        "loses",
        fmt::format("the verdict {} does not fit the groups that are lost", name_of(verdict)),
        "a failure loses a group at least, and a pass none");
  }
  return loses;
}

/// The points that are left where these groups are lost, and with them what stands on them.
double points_without(const std::vector<std::string>& lost, const TaskSpec& task) {
  const auto is_lost = [&](const std::string& group) {
    return std::ranges::find(lost, group) != lost.end();
  };
  double points = 0;
  for (const GroupSpec& group : task.groups) points += is_lost(group.name) ? 0 : group.points;
  for (const SpeedSpec& speed : task.speeds) {
    if (std::ranges::none_of(speed.groups, is_lost)) points += maximum_points(speed);
  }
  return points;
}

Edit read_edit(const toml::table& table, const std::filesystem::path& file) {
  TableReader reader(table, file, "[[edit]]");
  Edit edit{.find = reader.text("find"), .replace = reader.text("replace")};
  reader.finish();
  return edit;
}

simgpu::Code read_code(TableReader& reader) {
  const std::string text = reader.text("code");
  if (const auto code = simgpu::Code::parse(text)) return *code;
  throw reader.error("code", fmt::format("there is no code {}", text),
                     "name one of docs/design/codes.md");
}

Mistake read_mistake(const KeptSubmission& kept, TableReader& reader, const PartSpec& part,
                     const TaskSpec& task) {
  Mistake mistake;
  static_cast<KeptSubmission&>(mistake) = kept;
  mistake.file = reader.text("file");
  const std::vector<std::string> files = files_of(part, task);
  if (std::ranges::find(files, mistake.file) == files.end()) {
    throw reader.error("file", fmt::format("{} is no file of the task {}", mistake.file, task.id),
                       fmt::format("name one of {}", fmt::join(files, ", ")));
  }
  mistake.verdict = read_verdict(reader);
  mistake.code = read_code(reader);
  mistake.says = reader.text_or("says", "");
  mistake.loses = read_loses(reader, task, mistake.verdict);
  mistake.max_score = reader.number_or("max_score", points_without(mistake.loses, task));
  mistake.vast_gb = reader.number_or("vast_gb", 0);
  mistake.compute_capability = static_cast<int>(reader.number_or("compute_capability", 0));
  mistake.held_out = reader.boolean_or("held_out", false);
  reader.boolean_or("thorough", false);  // for labs/CMakeLists.txt
  mistake.judged = read_judged(reader);
  reader.each("edit", [&](const toml::table& edit) {
    mistake.edits.push_back(read_edit(edit, kept.folder / kFile));
  });
  return mistake;
}

/// Replaces the only place where the edit's `find` stands.
std::string edited(std::string text, const Edit& edit, const Mistake& mistake) {
  const std::size_t place = text.find(edit.find);
  const bool found = !edit.find.empty() && place != std::string::npos;
  if (!found || text.find(edit.find, place + 1) != std::string::npos) {
    throw SpecError(
        fmt::format("{}: an edit's `find` stands in the solution's {} {}; make it match exactly "
                    "one place: {}",
                    (mistake.folder / kFile).string(), mistake.file,
                    found ? "more than once" : "nowhere", edit.find));
  }
  return text.replace(place, edit.find.size(), edit.replace);
}

std::string source_of(const Mistake& mistake, const std::filesystem::path& solution) {
  if (mistake.edits.empty()) return read_file(mistake.folder / mistake.file);
  std::string source = read_file(solution / mistake.file);
  for (const Edit& edit : mistake.edits) source = edited(std::move(source), edit, mistake);
  return source;
}

}  // namespace

std::vector<Mistake> load_mistakes(const PartSpec& part) {
  std::vector<Mistake> mistakes;
  load_kept(
      part, "mistakes", kFile, "the mistake",
      [&](const KeptSubmission& kept, TableReader& reader, const toml::table& /*table*/,
          const TaskSpec& task) { mistakes.push_back(read_mistake(kept, reader, part, task)); });
  return mistakes;
}

void write_submission(const Mistake& mistake, const PartSpec& part,
                      const std::filesystem::path& solutions,
                      const std::filesystem::path& submission) {
  const auto solution = solutions / part.directory;
  // The mistake may lie in a file that the task uses.
  write_files(part, mistake.task, submission, [&](const std::string& name) {
    return name == mistake.file ? source_of(mistake, solution) : read_file(solution / name);
  });
}

}  // namespace rooflab::verify
