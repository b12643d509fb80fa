#include "grader/cli/info_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ctime>

#include "grader/author/course_pages.h"
#include "grader/cli/grading.h"
#include "grader/pipeline/grade.h"
#include "grader/report/text.h"
#include "grader/spec/answers.h"
#include "grader/spec/course_spec.h"
#include "grader/spec/files.h"
#include "grader/spec/part.h"
#include "grader/spec/similar_name.h"

namespace rooflab {
namespace {

/// Whether a task's points are given by groups of cases that have to be named.
bool has_groups(const TaskSpec& task) {
  return task.kind != TaskKind::answers && task.groups.size() > 1 && task.points > 0;
}

/// "1 point", "2.5 points".
std::string points_in_words(double points) {
  const std::string number = format_points(points);
  return number + (number == "1" ? " point" : " points");
}

/// Parameters, where the name does not say them.
std::string parameter_words(const std::string& name, const Values& parameters) {
  const std::string text = text_of(parameters);
  return text == name ? std::string() : text;
}

/// The parameters of a case, and its group where neither they nor the task say it.
std::string case_words(const TaskSpec& task, const CaseSpec& spec) {
  const std::string text = parameter_words(spec.name, spec.parameters);
  if (!has_groups(task) || text.find(spec.group) != std::string::npos) return text;
  return fmt::format("{}{}({})", text, text.empty() ? "" : "  ", spec.group);
}

/// The longest name among groups, cases, questions and the timed size, so that what follows them
/// lines up.
std::size_t name_width(const TaskSpec& task) {
  std::size_t width = 0;
  for (const SpeedSpec& speed : task.speeds) width = std::max(width, speed.name.size());
  for (const CaseSpec& spec : task.cases) width = std::max(width, spec.name.size());
  for (const QuestionSpec& question : task.questions) width = std::max(width, question.id.size());
  for (const GroupSpec& group : task.groups) width = std::max(width, group.name.size());
  for (const auto& [name, bounds] : task.tested.chosen) width = std::max(width, name.size());
  return width;
}

/// What is asked, and what there is to choose from, in lines below the question's own.
void show_prompt(std::ostream& out, const QuestionSpec& question) {
  constexpr std::size_t kColumns = 86;
  constexpr const char* kIndent = "              ";
  const auto show = [&](const std::string& text) {
    for (const std::string& line : wrap(text, kColumns)) out << kIndent << line << '\n';
  };
  show(question.prompt);
  char letter = 'a';
  for (const std::string& choice : question.choices) show(fmt::format("{}: {}", letter++, choice));
}

/// Whose numbers the questions are shown with: the student of the command line, else the one whom
/// the submission names.
std::string student_of(const Options& options, const Installation& installation,
                       const PartSpec& part, const TaskSpec& task) {
  if (!options.student.empty() || task.kind != TaskKind::answers) return options.student;
  const SubmittedFile file =
      read_submitted(submission_of(options, installation) / part.directory, task.file);
  return file.state == SubmittedFile::State::present ? read_answers(file.text, task).student : "";
}

/// @param prompts shows what each question asks, too
void show_cases(std::ostream& out, const TaskSpec& task, bool prompts) {
  const std::size_t width = name_width(task);
  const auto row = [&](const std::string& kind, const std::string& name, const std::string& text) {
    out << fmt::format("  {:>10}  {:<{}}{}{}\n", kind, name, text.empty() ? 0 : width,
                       text.empty() ? "" : "  ", text);
  };
  if (has_groups(task)) {
    for (const GroupSpec& group : task.groups) {
      row("group", group.name,
          fmt::format("{}{}{}", points_in_words(group.points), group.title.empty() ? "" : ": ",
                      group.title));
    }
  }
  int number = 0;
  for (const CaseSpec& spec : task.cases) {
    if (spec.hidden) {
      row("hidden", spec.name, has_groups(task) ? fmt::format("({})", spec.group) : "");
    } else {
      row(fmt::format("case {}", ++number), spec.name, case_words(task, spec));
    }
  }
  for (const auto& [name, bounds] : task.tested.chosen) {
    row("parameter", name, fmt::format("{} to {}", text_of(bounds.low), text_of(bounds.high)));
  }
  if (task.kind == TaskKind::tests) {
    row("cases", "yours",
        fmt::format("at most {}, of {} elements together", task.tested.most_cases,
                    task.tested.most_elements));
  }
  if (task.kind == TaskKind::worklog) {
    row("by hand", "log", fmt::format("{}, read by a person", points_in_words(task.hand_points)));
  }
  for (const QuestionSpec& question : task.questions) {
    const std::string by = question.kind == QuestionKind::text ? ", read by a person" : "";
    row("question", question.id,
        fmt::format("{}{}{}", question.bonus ? "bonus, " : "", points_in_words(question.points),
                    by));
    if (prompts) show_prompt(out, question);
  }
  for (const SpeedSpec& speed : task.speeds) {
    row("timed", speed.name, parameter_words(speed.name, speed.parameters));
  }
}

/// "RL0301" of "301", "0301" and "rl301".
std::string whole_code(std::string code) {
  constexpr std::size_t kDigits = 4;
  std::ranges::transform(code, code.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::string digits = code.starts_with("RL") ? code.substr(2) : code;
  const bool is_number =
      !digits.empty() && digits.size() <= kDigits &&
      std::ranges::all_of(digits, [](unsigned char c) { return std::isdigit(c); });
  return is_number ? "RL" + std::string(kDigits - digits.size(), '0') + digits : code;
}

}  // namespace

int part_of_task(const Installation& installation, const std::string& task) {
  std::vector<int> parts;
  std::vector<std::string> names;
  for (const int number : list_parts(installation.labs())) {
    for (const TaskSpec& known :
         load_part(installation.labs(), installation.solutions(), number).tasks) {
      names.push_back(known.id);
      if (known.id == task) parts.push_back(number);
    }
  }
  if (parts.size() == 1) return parts.front();
  if (parts.empty()) {
    throw UsageError(fmt::format("no part has a task {}{} (see grader --part 1 --list)", task,
                                 did_you_mean(task, names)));
  }
  throw UsageError(
      fmt::format("parts {} have a task {}; name one with --part", fmt::join(parts, ", "), task));
}

std::vector<std::string> known_codes(const Installation& installation) {
  std::vector<std::string> codes;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(installation.handouts() / "errors", error)) {
    if (entry.path().extension() == ".md") codes.push_back(entry.path().stem().string());
  }
  std::ranges::sort(codes);
  return codes;
}

int list_all_parts(std::ostream& out, const Installation& installation) {
  const auto parts = list_parts(installation.labs());
  if (parts.empty()) {
    throw SpecError(
        fmt::format("{}: no part is found there; restore the folder labs/ of the checkout",
                    installation.labs().string()));
  }
  const CourseSpec course = course_spec_or_none(installation.labs());
  for (const int number : parts) {
    const PartSpec part = load_part(installation.labs(), installation.solutions(), number);
    double points = 0;
    double bonus = 0;
    for (const TaskSpec& task : part.tasks) (task.bonus ? bonus : points) += maximum_points(task);
    const std::string dates = dates_in_words(dates_of(course, number), std::time(nullptr));
    out << fmt::format("Part {}  {:<28} {} {}, {}{}{}\n", part.number, part.title,
                       part.tasks.size(), part.tasks.size() == 1 ? "task" : "tasks",
                       points_in_words(points),
                       bonus > 0 ? fmt::format(" and {} bonus", format_points(bonus)) : "",
                       dates.empty() ? "" : ", " + dates);
  }
  return 0;
}

int show_tasks(std::ostream& out, const Options& options, const Installation& installation) {
  const PartSpec part =
      load_part(installation.labs(), installation.solutions(), options.part.value());
  if (options.task) find_task(part, *options.task);
  out << fmt::format("Part {}, {}\n", part.number, part.title);
  for (const TaskSpec& task : part.tasks) {
    if (options.task && task.id != *options.task) continue;
    out << fmt::format("\n  {:<16} {} · {}{} · {}\n", task.id, task.title,
                       points_in_words(maximum_points(task)), task.bonus ? " (bonus)" : "",
                       task.file);
    const std::string student = student_of(options, installation, part, task);
    if (draws_numbers(task)) {
      out << fmt::format("  {:>10}  {}\n", "numbers",
                         student.empty() ? "the page's; yours with --student and your ID"
                                         : "those of " + one_line(student));
    }
    show_cases(out, asked_of(task, part.number, student),
               options.task.has_value() || !student.empty());
  }
  return 0;
}

int explain_code(std::ostream& out, const Options& options, const Installation& installation) {
  const std::string code = whole_code(options.code);
  const auto folder = installation.handouts() / "errors";
  const bool plain =
      std::ranges::all_of(code, [](unsigned char c) { return std::isalnum(c) != 0; });
  const auto file = folder / (code + ".md");
  if (!plain || !std::filesystem::exists(file)) {
    const auto codes = known_codes(installation);
    const std::string meant = similar_name(code, codes);
    throw UsageError(fmt::format("there is no code {}; {}", code,
                                 meant.empty()
                                     ? "handouts/errors/ has a page for each that there is"
                                     : fmt::format("did you mean {}?", meant)));
  }
  out << page_of_course(read_file(file), has_one_of(list_parts(installation.labs())),
                        file.string());
  return 0;
}

int write_pages(std::ostream& out, const std::string& folder, const Installation& installation) {
  const HasPart has_part = has_one_of(list_parts(installation.labs()));
  std::size_t pages = 0;
  for (const auto& file : files_below(installation.handouts())) {
    const auto path = file.lexically_relative(installation.handouts());
    if (path.extension() != ".md" || !is_there(path.string(), has_part)) continue;
    write_file_atomically(std::filesystem::path(folder) / path,
                          page_of_course(read_file(file), has_part, file.string()));
    ++pages;
  }
  out << fmt::format("{}: {} pages\n", folder, pages);
  return 0;
}

}  // namespace rooflab
