#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grader/batch/store/review_store.h"

/// The rubrics of a review: their lines, and answers that are graded by them.
namespace rooflab {

std::string signed_points(double points) {
  return points > 0 ? fmt::format("+{}", points) : fmt::format("{}", points + 0.0);
}

double rubric_points(const std::vector<RubricLine>& lines, const RubricGrade& grade, double most) {
  double sum = grade.adjustment;
  for (const RubricLine& line : lines) {
    if (grade.chosen.contains(line.id)) sum += line.points;
  }
  return std::clamp(sum, 0.0, most);
}

namespace {

/// The points stand behind: a cell that began with a sign would be a formula to a spreadsheet.
std::string with_points(const std::string& text, double points) {
  return fmt::format("{} ({})", text, signed_points(points));
}

}  // namespace

RubricVersions versions_of(const std::vector<RubricLine>& lines) {
  RubricVersions versions;
  for (const RubricLine& line : lines) versions[line.id] = line.version;
  return versions;
}

std::string rubric_words(const std::vector<RubricLine>& lines, const RubricGrade& grade) {
  std::string words;
  const auto add = [&](const std::string& line) { words += (words.empty() ? "" : "\n") + line; };
  for (const RubricLine& line : lines) {
    if (grade.chosen.contains(line.id)) add(with_points(line.text, line.points));
  }
  if (grade.adjustment != 0) add(with_points("adjusted", grade.adjustment));
  if (!grade.comment.empty()) add(grade.comment);
  return words;
}

namespace {

std::string words_of(const RubricLine& line) { return with_points(line.text, line.points); }

ReviewLogEntry entry_of(const RubricLine& line, const char* what, const ReviewAct& act) {
  return {.at = act.at, .by = act.by, .what = what, .part = line.part, .subject = line.item};
}

RubricLine read_line(Statement& row) {
  RubricLine line;
  line.id = row.integer();
  line.part = static_cast<int>(row.integer());
  line.item = row.text();
  line.text = row.text();
  line.points = row.real();
  line.version = row.integer();
  return line;
}

/// What is another way in a rubric since somebody read it; empty where nothing is.
std::string changes_since(const RubricVersions& seen, const std::vector<RubricLine>& lines) {
  std::vector<std::string> changes;
  for (const RubricLine& line : lines) {
    const auto before = seen.find(line.id);
    if (before == seen.end()) {
      changes.push_back("new is " + words_of(line));
    } else if (before->second != line.version) {
      changes.push_back("an item is now " + words_of(line));
    }
  }
  const RubricVersions now = versions_of(lines);
  const auto removed =
      std::ranges::count_if(seen, [&](const auto& one) { return !now.contains(one.first); });
  if (removed > 0) changes.push_back(fmt::format("removed: {}", removed));
  return fmt::format("{}", fmt::join(changes, "; "));
}

constexpr const char* kLineColumns = "rubric_item, part, item, text, points, version";

void insert_line(Database& database, const RubricLine& line) {
  Statement(database,
            "INSERT INTO rubric_items (part, item, position, text, points, version, removed) "
            "SELECT ?1, ?2, coalesce(max(position), 0) + 1, ?3, ?4, 1, 0 FROM rubric_items WHERE "
            "part = ?1 AND item = ?2")
      .bind(line.part)
      .bind(line.item)
      .bind(line.text)
      .bind(line.points)
      .run();
}

}  // namespace

std::vector<RubricLine> ReviewStore::rubric(int part, const std::string& item) {
  Statement row(database_, fmt::format("SELECT {} FROM rubric_items WHERE part = ? AND item = ? "
                                       "AND NOT removed ORDER BY position",
                                       kLineColumns));
  row.bind(part).bind(item);
  std::vector<RubricLine> lines;
  while (row.step()) lines.push_back(read_line(row));
  return lines;
}

void ReviewStore::begin_rubric(int part, const std::string& item,
                               const std::vector<RubricLine>& lines) {
  const auto has_begun = [&] {
    Statement any(database_, "SELECT 1 FROM rubric_items WHERE part = ? AND item = ?");
    return any.bind(part).bind(item).step();
  };
  if (lines.empty() || has_begun()) return;  // whoever only looks waits for no writer
  Transaction transaction(database_);
  if (has_begun()) return;
  for (const RubricLine& line : lines) insert_line(database_, line);
  transaction.commit();
}

void ReviewStore::add_rubric_line(const RubricLine& line, const ReviewAct& act) {
  Transaction transaction(database_);
  insert_line(database_, line);
  ReviewLogEntry entry = entry_of(line, "rubric item added", act);
  entry.after = words_of(line);
  put_log(entry);
  transaction.commit();
}

RubricLine ReviewStore::line_to_change(std::int64_t id, std::int64_t version) {
  Statement row(database_, fmt::format("SELECT {}, removed FROM rubric_items WHERE rubric_item = ?",
                                       kLineColumns));
  row.bind(id);
  if (!row.step()) throw LostUpdate("there is no such rubric item any more");
  const RubricLine line = read_line(row);
  if (row.truth()) throw LostUpdate("somebody has removed this rubric item meanwhile");
  if (line.version != version) {
    throw LostUpdate("somebody has changed this rubric item meanwhile: " + words_of(line));
  }
  return line;
}

std::vector<std::string> ReviewStore::students_with(std::int64_t rubric_line) {
  Statement row(database_,
                "SELECT student FROM rubric_choices WHERE rubric_item = ? ORDER BY student");
  row.bind(rubric_line);
  std::vector<std::string> students;
  while (row.step()) students.push_back(row.text());
  return students;
}

std::size_t ReviewStore::change_rubric_line(const RubricLine& line, const ReviewAct& act) {
  Transaction transaction(database_);
  const RubricLine before = line_to_change(line.id, line.version);
  Statement(database_,
            "UPDATE rubric_items SET text = ?, points = ?, version = version + 1 WHERE rubric_item "
            "= ?")
      .bind(line.text)
      .bind(line.points)
      .bind(line.id)
      .run();
  ReviewLogEntry entry = entry_of(before, "rubric item changed", act);
  entry.before = words_of(before);
  entry.after = words_of(line);
  put_log(entry);
  const std::size_t changed = grade_again(before, students_with(line.id), act);
  transaction.commit();
  return changed;
}

std::size_t ReviewStore::remove_rubric_line(std::int64_t id, std::int64_t version,
                                            const ReviewAct& act) {
  Transaction transaction(database_);
  const RubricLine before = line_to_change(id, version);
  const std::vector<std::string> students = students_with(id);
  Statement(database_,
            "UPDATE rubric_items SET removed = 1, version = version + 1 WHERE rubric_item = ?")
      .bind(id)
      .run();
  ReviewLogEntry entry = entry_of(before, "rubric item removed", act);
  entry.before = words_of(before);
  put_log(entry);
  const std::size_t changed = grade_again(before, students, act);
  transaction.commit();
  return changed;
}

std::optional<RubricGrade> ReviewStore::rubric_grade(const std::string& student, int part,
                                                     const std::string& item) {
  Statement row(database_,
                "SELECT revision, adjustment, comment FROM rubric_grades WHERE student = ? AND "
                "part = ? AND item = ?");
  row.bind(student).bind(part).bind(item);
  if (!row.step()) return std::nullopt;
  const auto now = newest(student, part, item);
  if (!now || now->withdrawn || now->revision != row.integer()) return std::nullopt;
  RubricGrade grade;
  grade.adjustment = row.real();
  grade.comment = row.text();
  Statement chosen(database_,
                   "SELECT rubric_item FROM rubric_choices JOIN rubric_items USING (rubric_item) "
                   "WHERE student = ? AND rubric_choices.part = ? AND rubric_choices.item = ? AND "
                   "NOT removed");
  chosen.bind(student).bind(part).bind(item);
  while (chosen.step()) grade.chosen.insert(chosen.integer());
  return grade;
}

void ReviewStore::put_grade(const std::string& student, int part, const std::string& item,
                            std::int64_t revision, const RubricGrade& grade) {
  Statement(database_, "INSERT OR REPLACE INTO rubric_grades VALUES (?, ?, ?, ?, ?, ?)")
      .bind(student)
      .bind(part)
      .bind(item)
      .bind(revision)
      .bind(grade.adjustment)
      .bind(grade.comment)
      .run();
  Statement(database_, "DELETE FROM rubric_choices WHERE student = ? AND part = ? AND item = ?")
      .bind(student)
      .bind(part)
      .bind(item)
      .run();
  Statement insert(database_, "INSERT INTO rubric_choices VALUES (?, ?, ?, ?)");
  for (const std::int64_t line : grade.chosen) {
    insert.bind(student).bind(part).bind(item).bind(line).run();
  }
}

void ReviewStore::grade_answer(const PointsTarget& target, const RubricGrade& grade,
                               const RubricVersions& seen, double most, const ReviewAct& act) {
  Transaction transaction(database_);
  check(target);
  const std::vector<RubricLine> lines = rubric(target.part, target.item);
  const std::string changes = changes_since(seen, lines);
  if (!changes.empty()) {
    throw LostUpdate("the rubric has changed since you read this page: " + changes +
                     ". Your choice is below; look at it and keep it once more");
  }
  for (const std::int64_t id : grade.chosen) {
    if (!seen.contains(id)) throw LostUpdate("a rubric item that is chosen here is gone");
  }
  for (const auto& [student, revision] : target.revisions) {
    const std::int64_t made = put_points({.student = student,
                                          .part = target.part,
                                          .item = target.item,
                                          .points = rubric_points(lines, grade, most),
                                          .max_points = most,
                                          .comment = rubric_words(lines, grade)},
                                         false, act);
    put_grade(student, target.part, target.item, made, grade);
  }
  transaction.commit();
}

/// Points that were given in another way since stay as they are.
std::size_t ReviewStore::grade_again(const RubricLine& line,
                                     const std::vector<std::string>& students,
                                     const ReviewAct& act) {
  const std::vector<RubricLine> lines = rubric(line.part, line.item);
  std::size_t changed = 0;
  for (const std::string& student : students) {
    const auto grade = rubric_grade(student, line.part, line.item);
    const auto now = newest(student, line.part, line.item);
    if (!grade || !now) continue;
    ManualRow row = now->row;
    row.points = rubric_points(lines, *grade, row.max_points.value_or(row.points));
    row.comment = rubric_words(lines, *grade);
    if (row.points == now->row.points && row.comment == now->row.comment) continue;
    put_grade(student, line.part, line.item, put_points(row, false, act), *grade);
    ++changed;
  }
  return changed;
}

}  // namespace rooflab
