#include "grader/cli/hint_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grader/cli/grading.h"
#include "grader/cli/kept_runs.h"
#include "grader/cli/typed_commands.h"
#include "grader/diagnose/diagnose.h"
#include "grader/pipeline/grade.h"
#include "grader/report/text.h"
#include "grader/spec/course_spec.h"
#include "grader/spec/files.h"
#include "grader/spec/hints_used.h"
#include "grader/spec/part.h"
#include "grader/spec/similar_name.h"

namespace rooflab {
namespace {

/// Hints that are shown one after the other.
struct Hints {
  std::string name;  ///< hints_name()
  std::string says;  ///< "counters", "counters, gemm_cost"
  std::string flag;  ///< " --hint gemm_cost"
  std::vector<std::string> texts;
  double points = 0;  ///< that a price is a share of
};

/// What a hint does, on the way from a question to a near-answer.
std::string step_name(std::size_t hint, std::size_t of) {
  if (hint + 1 == of) return "is almost the answer";
  return hint == 0 ? "asks a question" : "suggests an approach";
}

/// What the hints have cost; empty where they are free.
std::string price_words(double cost, const Hints& hints, std::size_t used) {
  if (!(cost > 0)) return "";
  return fmt::format(
      "hints cost points in this course, on your honour: {:.4g} % of {} each, {} of them now\n",
      100 * cost, format_points(hints.points),
      format_points(std::min(hints.points, cost * hints.points * static_cast<double>(used))));
}

Hints hints_of(const TaskSpec& task) {
  return {.name = hints_name(task),
          .says = task.id,
          .flag = " --hint",
          .texts = task.hints,
          .points = maximum_points(task)};
}

Hints hints_of(const TaskSpec& task, const GroupSpec& group) {
  return {.name = hints_name(task, group),
          .says = fmt::format("{}, {}", task.id, group.name),
          .flag = " --hint " + group.name,
          .texts = group.hints,
          .points = group.points};
}

/// The first group of the task that did not pass in the last run, of those with hints of their own.
const GroupSpec* first_failing(const TaskSpec& task, const std::optional<GradeResult>& last) {
  if (!last) return nullptr;
  const auto result = std::ranges::find(last->tasks, task.id, &TaskResult::id);
  if (result == last->tasks.end()) return nullptr;
  for (const GroupResult& ran : result->groups) {
    if (ran.verdict == Verdict::pass) continue;
    const auto group = std::ranges::find(task.groups, ran.name, &GroupSpec::name);
    if (group != task.groups.end() && !group->hints.empty()) return &*group;
  }
  return nullptr;
}

/// What the last run says first of a task that failed, where a hint can be about just that; null
/// where it cannot. Where a failing function has hints of its own, a code that says no more than
/// how its results look adds nothing to them.
const Diagnostic* last_mistake(const TaskSpec& task, const std::optional<GradeResult>& last) {
  if (!last) return nullptr;
  const auto result = std::ranges::find(last->tasks, task.id, &TaskResult::id);
  if (result == last->tasks.end() || result->verdict == Verdict::pass) return nullptr;
  if (result->verdict == Verdict::not_implemented || result->diagnostics.empty()) return nullptr;
  const Diagnostic& first = result->diagnostics.front();
  const bool is_ours = first.code.text().starts_with("RL09");
  const bool has_closer = !names_cause(first) && first_failing(task, last) != nullptr;
  const bool is_kernel = task.kind == TaskKind::kernel || task.kind == TaskKind::values;
  return is_ours || has_closer || !is_kernel ? nullptr : &first;
}

/// The first paragraph of how to fix it, from the code's page; empty where there is no page.
std::string advice_of_page(const Installation& installation, const simgpu::Code& code) {
  const auto file = installation.handouts() / "errors" / (code.text() + ".md");
  if (!std::filesystem::exists(file)) return {};
  const std::string page = read_file(file);
  constexpr std::string_view kHeading = "## How to fix it\n\n";
  const std::size_t heading = page.find(kHeading);
  if (heading == std::string::npos) return {};
  const std::size_t first = heading + kHeading.size();
  std::string paragraph = page.substr(first, page.find("\n\n", first) - first);
  return paragraph.starts_with("```") ? std::string() : one_line(paragraph);
}

/// The hint for the mistake of the last run, where it has one that was not shown yet; it is free.
bool show_mistake_hint(std::ostream& out, const Options& options, const Installation& installation,
                       const TaskSpec& task, const Diagnostic& mistake) {
  const auto declared = task.mistake_hints.find(mistake.code);
  const std::string text = declared != task.mistake_hints.end()
                               ? declared->second
                               : advice_of_page(installation, mistake.code);
  if (text.empty()) return false;
  out << fmt::format("{}, about this mistake: {}: {}\n", task.id, mistake.code.text(),
                     one_line(mistake.message));
  if (mistake.line > 0) out << fmt::format("at {}:{}\n", one_line(mistake.file), mistake.line);
  out << fmt::format("{}\n", text);
  out << fmt::format("the page about it: {} explain {}\n", typed_program(), mistake.code.text());
  out << fmt::format("hints for the task: {} --hint\n", grade_command(options, task.id));
  return true;
}

/// @throws UsageError for a name that no hints go by.
Hints named_hints(const TaskSpec& task, const std::string& name) {
  if (name == task.id) return hints_of(task);
  std::vector<std::string> names = {task.id};
  for (const GroupSpec& group : task.groups) {
    if (group.hints.empty()) continue;
    if (group.name == name) return hints_of(task, group);
    names.push_back(group.name);
  }
  throw UsageError(fmt::format("task {} has no hints for {}; it has them for {}{}", task.id, name,
                               fmt::join(names, ", "), did_you_mean(name, names)));
}

}  // namespace

int show_hint(std::ostream& out, const Options& options, const Installation& installation) {
  const PartSpec part =
      load_part(installation.labs(), installation.solutions(), options.part.value());
  const TaskSpec& task = find_task(part, options.task.value_or(""));
  const auto submission = submission_of(options, installation);
  const auto folder = submission / part.directory;
  if (!std::filesystem::is_directory(folder)) {
    throw UsageError(fmt::format(
        "there is no folder {} to note the hint in; name a submission with --submission",
        folder.string()));
  }
  Hints hints = hints_of(task);
  auto shown = read_hints_used(folder, part);
  if (!options.hint_group.empty()) {
    hints = named_hints(task, options.hint_group);
  } else {
    const auto last = KeptRuns(installation.cache, submission).latest(part.number);
    const Diagnostic* const mistake = last_mistake(task, last);
    if (mistake != nullptr && !shown.contains(hints_name(task, mistake->code)) &&
        show_mistake_hint(out, options, installation, task, *mistake)) {
      shown[hints_name(task, mistake->code)] = 1;
      write_hints_used(folder, shown);
      return 0;
    }
    if (const GroupSpec* group = first_failing(task, last)) hints = hints_of(task, *group);
  }
  const auto known = static_cast<std::size_t>(shown[hints.name]);
  const std::size_t count = hints.texts.size();
  const std::size_t step = std::min(known, count - 1);
  const bool again = known == count;
  if (!again) {
    shown[hints.name] = static_cast<int>(step + 1);
    write_hints_used(folder, shown);
  }
  out << fmt::format("{}, hint {} of {}{}: {}\n", hints.says, step + 1, count,
                     again ? ", again" : "", hints.texts[step]);
  out << price_words(hint_cost_of(installation.labs()), hints, step + 1);
  if (step + 1 == count) {
    out << fmt::format("that is the last one; then: {}\n", grade_command(options, task.id));
  } else {
    out << fmt::format("hint {} {}: {}{}\n", step + 2, step_name(step + 1, count),
                       grade_command(options, task.id), hints.flag);
  }
  return 0;
}

}  // namespace rooflab
