#include "grader/cli/next_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "grader/report/text.h"
#include "grader/spec/files.h"
#include "grader/spec/handed_out.h"
#include "grader/spec/pattern.h"
#include "grader/spec/work_log.h"

namespace rooflab {
namespace {

/// Of a score, which is kept with two decimals.
constexpr double kLeastMissing = 0.005;

/// A place in a student's file that still waits for an answer.
struct OpenPlace {
  std::uint32_t line = 0;
  std::string says;  ///< what it asks for first; may be empty
};

bool is_bonus_question(const TaskSpec& task, const std::string& id) {
  const auto question = std::ranges::find(task.questions, id, &QuestionSpec::id);
  return question != task.questions.end() && question->bonus;
}

/// The first stub of a source file that is not commented out, or the first open answer that is no
/// bonus.
std::optional<OpenPlace> first_todo(const TaskSpec& task, const std::string& text) {
  static const Pattern stub(R"re(\btodo\(\s*"([^"]{0,200})")re");
  // Whose answers they are is nothing to work out.
  static const Pattern open_answer(R"re(^\s*(?!student\b)([A-Za-z0-9_]+)\s*=\s*""\s*(#.*)?$)re");
  constexpr std::size_t kLongestLine = 1000;  // a search takes stack for each character
  std::istringstream lines(text);
  std::uint32_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line.resize(std::min(line.size(), kLongestLine));
    const auto found = (is_text(task) ? open_answer : stub).first(line);
    if (!found) continue;
    const std::string& what = found->groups[1];
    if (is_text(task)) {
      if (!is_bonus_question(task, what)) return OpenPlace{number, ""};
    } else if (line.find("//") > found->begin) {
      return OpenPlace{number, one_line(what)};
    }
  }
  return std::nullopt;
}

const TaskResult* result_of(const PartProgress& progress, const TaskSpec& task) {
  if (!progress.last) return nullptr;
  const auto& tasks = progress.last->tasks;
  const auto found = std::ranges::find(tasks, task.id, &TaskResult::id);
  return found == tasks.end() ? nullptr : &*found;
}

bool is_solved(const TaskResult* result) {
  return result != nullptr &&
         (result->verdict == Verdict::pass || result->verdict == Verdict::not_applicable);
}

/// What to do about a task that is not solved.
NextStep step_for(const PartProgress& progress, const TaskSpec& task,
                  const std::filesystem::path& submission) {
  const std::string path = progress.part.directory + "/" + task.file;
  NextStep step{.part = progress.part.number, .task = task.id, .why = {}, .place = path};
  const SubmittedFile file = read_submitted(submission / progress.part.directory, task.file);
  if (file.state != SubmittedFile::State::present) {
    step.why = fmt::format("the file is not there; copy it from {}",
                           where_handed_out(progress.part, task.file));
    step.grade = false;
    return step;
  }
  if (const auto todo = first_todo(task, file.text)) {
    step.place = fmt::format("{}:{}", path, todo->line);
    step.grade = false;
    step.why = is_text(task)        ? "the first open answer stands there"
               : todo->says.empty() ? "its TODO stands there"
                                    : "its TODO says: " + todo->says;
    return step;
  }
  if (task.kind == TaskKind::worklog && read_work_log(file.text).entries.empty()) {
    step.why = "no version is logged yet: grade a timed kernel of the part with --log";
    step.grade = false;
    return step;
  }
  const TaskResult* result = result_of(progress, task);
  if (result == nullptr) {
    step.why = task.starter_finds
                   ? "as handed out it is wrong on purpose: run it, read what is found, and mend it"
                   : "it is written, and was never graded";
  } else if (result->verdict == Verdict::not_implemented && task.kind != TaskKind::worklog) {
    step.why = "it has changed since it was graded";
  } else if (!result->diagnostics.empty()) {
    const Diagnostic& story = result->diagnostics.front();
    if (story.line > 0) {
      step.place =
          fmt::format("{}/{}:{}", progress.part.directory, one_line(story.file), story.line);
    }
    step.why = fmt::format("the last run found {}: {}", story.code.text(), one_line(story.message));
    if (result->score > 0) {
      step.why += fmt::format("; {} of {} points stand", format_points(result->score),
                              format_points(result->max_score));
    }
  } else {
    step.why = "the last run did not pass";
  }
  return step;
}

/// The first task of a part that is not solved.
/// @param only among these tasks; empty: among all
const TaskSpec* first_open(const PartProgress& progress, bool bonus,
                           const std::vector<std::string>& only = {}) {
  for (const TaskSpec& task : progress.part.tasks) {
    const bool is_asked = only.empty() || std::ranges::find(only, task.id) != only.end();
    if (!is_asked || task.bonus != bonus || is_solved(result_of(progress, task))) continue;
    return &task;
  }
  return nullptr;
}

/// What is open where somebody is at work: the ladder of their task comes before the rest.
const TaskSpec* first_open_beside(const PartProgress& progress, const std::string& task) {
  for (const Ladder& ladder : progress.part.ladders) {
    if (step_number(ladder, task) == 0) continue;
    if (const TaskSpec* step = first_open(progress, false, ladder.steps)) return step;
  }
  return first_open(progress, false);
}

/// The first task of the course that passes and misses points.
std::optional<NextStep> first_with_points_missing(const std::vector<PartProgress>& course) {
  for (const PartProgress& progress : course) {
    for (const TaskSpec& task : progress.part.tasks) {
      const TaskResult* result = result_of(progress, task);
      if (task.bonus || result == nullptr) continue;
      if (result->score > result->max_score - result->graded_later - kLeastMissing) continue;
      return NextStep{
          .part = progress.part.number,
          .task = task.id,
          .why = fmt::format("it passes with {} of {} points", format_points(result->score),
                             format_points(result->max_score)),
          .place = progress.part.directory + "/" + task.file};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<NextStep> next_step(const std::vector<PartProgress>& course,
                                  const std::filesystem::path& submission,
                                  const std::optional<AtWork>& at_work) {
  for (const PartProgress& progress : course) {
    if (!at_work || progress.part.number != at_work->part) continue;
    const TaskSpec* task = first_open_beside(progress, at_work->task);
    if (task != nullptr) return step_for(progress, *task, submission);
  }
  for (const bool bonus : {false, true}) {
    for (const PartProgress& progress : course) {
      const TaskSpec* task = first_open(progress, bonus);
      if (task != nullptr) return step_for(progress, *task, submission);
    }
    if (bonus) break;
    if (auto step = first_with_points_missing(course)) return step;
  }
  return std::nullopt;
}

std::string open_before(const std::vector<PartProgress>& course, int part) {
  std::string words;
  for (const PartProgress& progress : course) {
    if (progress.part.number >= part) continue;
    const auto open = std::ranges::count_if(progress.part.tasks, [&](const TaskSpec& task) {
      return !task.bonus && !is_solved(result_of(progress, task));
    });
    if (open == 0) continue;
    words += fmt::format("{} part {}: {} {}", words.empty() ? "Still open in" : ", in",
                         progress.part.number, open, open == 1 ? "task" : "tasks");
  }
  return words;
}

}  // namespace rooflab
