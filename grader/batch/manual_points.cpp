#include "grader/batch/manual_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "grader/batch/batch_folder.h"
#include "grader/batch/intake/csv.h"
#include "grader/report/text.h"
#include "grader/spec/answers.h"

namespace rooflab {
namespace {

/// The columns of a table by their headings.
class Columns {
 public:
  Columns(const std::vector<std::string>& heading, const std::string& name) {
    for (std::size_t i = 0; i < heading.size(); ++i) columns_.emplace(heading[i], i);
    for (const char* wanted : {"student", "part", "item", "points"}) {
      if (columns_.contains(wanted)) continue;
      throw BatchError(fmt::format(
          "{} has no column {}; its first row has to name student, part, item and points", name,
          wanted));
    }
  }

  std::string get(const std::vector<std::string>& row, const std::string& column) const {
    const auto found = columns_.find(column);
    return found == columns_.end() || found->second >= row.size() ? "" : row[found->second];
  }

 private:
  std::map<std::string, std::size_t> columns_;
};

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::vector<const TaskSpec*> answer_tasks(const PartSpec& part) {
  std::vector<const TaskSpec*> tasks;
  for (const TaskSpec& task : part.tasks) {
    if (task.kind == TaskKind::answers) tasks.push_back(&task);
  }
  return tasks;
}

/// The most points of a question of free text; nothing for any other item.
std::optional<double> points_of_question(const Course& course, int part, const std::string& item) {
  for (const PartSpec& one : course.parts) {
    if (one.number != part) continue;
    for (const TaskSpec* task : answer_tasks(one)) {
      for (const QuestionSpec& question : task->questions) {
        if (question.id == item && question.kind == QuestionKind::text) return question.points;
      }
    }
  }
  return std::nullopt;
}

class RowReader {
 public:
  RowReader(Store& store, const Course& course, const Columns& columns)
      : course_(course), columns_(columns) {
    for (const Student& student : store.students()) {
      for (const std::string& name : names_of(student)) {
        if (!name.empty()) keys_[name].insert(student.key);
      }
    }
  }

  /// @param where "points.csv, row 3"
  std::optional<ManualRow> read(const std::vector<std::string>& row, const std::string& where) {
    const std::string points = columns_.get(row, "points");
    if (points.empty()) return std::nullopt;
    ManualRow manual;
    manual.student = student(columns_.get(row, "student"), where);
    const auto part = number_of(columns_.get(row, "part"));
    const bool known = part && std::ranges::any_of(course_.parts, [&](const PartSpec& one) {
                         return one.number == *part;
                       });
    if (!known) {
      throw BatchError(fmt::format("{}: part {} is none that this batch grades; correct it", where,
                                   one_line(columns_.get(row, "part"))));
    }
    manual.part = static_cast<int>(*part);
    manual.item = one_line(columns_.get(row, "item"));
    if (manual.item.empty()) {
      throw BatchError(fmt::format("{}: item is empty; say what the points are for", where));
    }
    manual.points = number(points, where);
    manual.max_points = points_of_question(course_, manual.part, manual.item);
    const std::string most = columns_.get(row, "max");
    if (!manual.max_points && !most.empty()) manual.max_points = number(most, where);
    if (manual.points < 0 || (manual.max_points && manual.points > *manual.max_points)) {
      throw BatchError(
          fmt::format("{}: {} points are not from 0 to {}; correct them", where, points,
                      manual.max_points ? format_points(*manual.max_points) : "what you like"));
    }
    manual.comment = sanitize(columns_.get(row, "comment"));
    manual.by = one_line(columns_.get(row, "by"));
    return manual;
  }

 private:
  static double number(const std::string& text, const std::string& where) {
    const auto value = number_of(text);
    if (value) return *value;
    throw BatchError(
        fmt::format("{}: {} is no number of points; write it as 2.5", where, one_line(text)));
  }

  const std::string& student(const std::string& name, const std::string& where) const {
    // A key that a spreadsheet would take for a formula comes back with the apostrophe we gave it.
    auto found = keys_.find(name);
    if (found == keys_.end() && name.starts_with('\'')) found = keys_.find(name.substr(1));
    if (found != keys_.end() && found->second.size() == 1) return *found->second.begin();
    throw BatchError(fmt::format(
        "{}: {} is {}; use the key that grades.csv has", where, one_line(name),
        found == keys_.end() ? "no student of this batch" : "the name of several students"));
  }

  const Course& course_;
  const Columns& columns_;
  std::map<std::string, std::set<std::string>> keys_;
};

/// What a student wrote, as far as it can be read.
std::string answer_to(const SourceFiles& files, const PartSpec& part, const TaskSpec& task,
                      const std::string& question) {
  const auto file = files.find(part.directory + "/" + task.file);
  if (file == files.end()) return "";
  const Answers answers = read_answers(file->second, task);
  const auto found = answers.values.find(question);
  if (found == answers.values.end()) return "";
  const auto* text = std::get_if<std::string>(&found->second);
  return text != nullptr ? sanitize(*text) : "";
}

}  // namespace

ManualImport import_manual_points(Store& store, const Course& course, std::string_view text,
                                  const std::string& name, std::int64_t now) {
  const CsvTable table = parse_csv(text, name);
  if (table.empty()) throw BatchError(name + " is empty; its first row has to name the columns");
  const Columns columns(table.front(), name);
  RowReader reader(store, course, columns);
  ManualImport import;
  Transaction transaction(store.database());
  for (std::size_t i = 1; i < table.size(); ++i) {
    const auto row = reader.read(table[i], fmt::format("{}, row {}", name, i + 1));
    if (!row) continue;
    ++import.points;
    if (const auto before = store.put_manual(*row, now)) {
      import.replaced.push_back(fmt::format("{}, part {}, {}: {} points, were {}", row->student,
                                            row->part, row->item, format_points(row->points),
                                            format_points(*before)));
    }
  }
  transaction.commit();
  return import;
}

std::string free_text_table(Store& store, const Course& course) {
  std::map<std::tuple<std::string, int, std::string>, ManualRow> given;
  for (ManualRow& row : store.manual_points()) {
    given.insert_or_assign(std::tuple(row.student, row.part, row.item), row);
  }
  CsvTable table = {
      {"student", "part", "item", "points", "max", "comment", "by", "question", "answer"}};
  for (const SubmissionRow& submission : store.submissions()) {
    if (!submission.counts) continue;
    for (const auto& [number, source] : store.handed_in(submission.id)) {
      const auto part = std::ranges::find(course.parts, number, &PartSpec::number);
      if (part == course.parts.end()) continue;
      const SourceFiles files = store.source(source);
      for (const TaskSpec* task : answer_tasks(*part)) {
        for (const QuestionSpec& question : task->questions) {
          if (question.kind != QuestionKind::text) continue;
          const auto row = given.find({submission.student, number, question.id});
          const bool known = row != given.end();
          table.push_back({submission.student, std::to_string(number), question.id,
                           known ? fmt::format("{}", row->second.points) : "",
                           format_points(question.points), known ? row->second.comment : "",
                           known ? row->second.by : "", question.prompt,
                           answer_to(files, *part, *task, question.id)});
        }
      }
    }
  }
  return to_csv(table);
}

}  // namespace rooflab
