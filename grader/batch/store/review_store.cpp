#include "grader/batch/store/review_store.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace rooflab {
namespace {

std::string words_of(const ManualRow& row, bool withdrawn) {
  if (withdrawn) return "no points";
  return fmt::format("{} {}{}{}", row.points, row.points == 1 ? "point" : "points",
                     row.comment.empty() ? "" : ": ", row.comment);
}

/// What a writer who comes too late is shown.
std::string theirs(const std::string& by, const std::string& text) {
  return fmt::format("{} has written meanwhile: {}", by.empty() ? "somebody" : by, text);
}

ReviewComment read_comment(Statement& row) {
  ReviewComment comment;
  comment.id = row.integer();
  comment.part = static_cast<int>(row.integer());
  comment.source = row.text();
  comment.path = row.text();
  comment.line = static_cast<std::uint32_t>(row.integer());
  comment.text = row.text();
  comment.by = row.text();
  comment.at = row.integer();
  comment.version = row.integer();
  return comment;
}

constexpr const char* kCommentColumns =
    "comment, part, source, path, line, text, written_by, written_at, version";

std::string place_of(const ReviewComment& comment) {
  if (comment.path.empty()) return "the submission";
  return comment.line == 0 ? comment.path : fmt::format("{}:{}", comment.path, comment.line);
}

ReviewLogEntry entry_of(const ReviewComment& comment, const char* what, const ReviewAct& act) {
  return {.at = act.at,
          .by = act.by,
          .what = what,
          .students = {comment.students.begin(), comment.students.end()},
          .part = comment.part,
          .subject = place_of(comment)};
}

}  // namespace

std::vector<ReviewComment> ReviewStore::comments() {
  std::map<std::int64_t, std::set<std::string>> students;
  Statement who(database_, "SELECT comment, student FROM review_comment_students");
  while (who.step()) {
    const std::int64_t comment = who.integer();
    students[comment].insert(who.text());
  }
  Statement row(database_, fmt::format("SELECT {} FROM review_comments WHERE NOT removed ORDER BY "
                                       "part, path, line, comment",
                                       kCommentColumns));
  std::vector<ReviewComment> comments;
  while (row.step()) {
    comments.push_back(read_comment(row));
    comments.back().students = students[comments.back().id];
  }
  return comments;
}

std::int64_t ReviewStore::add_comment(const ReviewComment& comment, const ReviewAct& act) {
  Transaction transaction(database_);
  Statement(database_,
            "INSERT INTO review_comments (part, source, path, line, text, written_by, written_at, "
            "version, removed) VALUES (?, ?, ?, ?, ?, ?, ?, 1, 0)")
      .bind(comment.part)
      .bind(comment.source)
      .bind(comment.path)
      .bind(std::int64_t{comment.line})
      .bind(comment.text)
      .bind(act.by)
      .bind(act.at)
      .run();
  Statement made(database_, "SELECT last_insert_rowid()");
  made.step();
  const std::int64_t id = made.integer();
  Statement insert(database_, "INSERT INTO review_comment_students VALUES (?, ?)");
  for (const std::string& student : comment.students) insert.bind(id).bind(student).run();
  ReviewLogEntry entry = entry_of(comment, "comment written", act);
  entry.after = comment.text;
  put_log(entry);
  transaction.commit();
  return id;
}

ReviewComment ReviewStore::comment_to_change(std::int64_t id, std::int64_t version) {
  Statement row(database_, fmt::format("SELECT {}, removed FROM review_comments WHERE comment = ?",
                                       kCommentColumns));
  row.bind(id);
  if (!row.step()) throw LostUpdate("there is no such comment any more");
  ReviewComment comment = read_comment(row);
  if (row.truth()) throw LostUpdate(theirs(comment.by, "(the comment is removed)"));
  if (comment.version != version) throw LostUpdate(theirs(comment.by, comment.text));
  Statement who(database_, "SELECT student FROM review_comment_students WHERE comment = ?");
  who.bind(id);
  while (who.step()) comment.students.insert(who.text());
  return comment;
}

void ReviewStore::change_comment(std::int64_t id, std::int64_t version, const std::string& text,
                                 const ReviewAct& act) {
  Transaction transaction(database_);
  const ReviewComment before = comment_to_change(id, version);
  Statement(database_,
            "UPDATE review_comments SET text = ?, written_by = ?, written_at = ?, version = "
            "version + 1 WHERE comment = ?")
      .bind(text)
      .bind(act.by)
      .bind(act.at)
      .bind(id)
      .run();
  ReviewLogEntry entry = entry_of(before, "comment changed", act);
  entry.before = before.text;
  entry.after = text;
  put_log(entry);
  transaction.commit();
}

void ReviewStore::remove_comment(std::int64_t id, std::int64_t version, const ReviewAct& act) {
  Transaction transaction(database_);
  const ReviewComment before = comment_to_change(id, version);
  Statement(database_,
            "UPDATE review_comments SET removed = 1, written_by = ?, written_at = ?, version = "
            "version + 1 WHERE comment = ?")
      .bind(act.by)
      .bind(act.at)
      .bind(id)
      .run();
  ReviewLogEntry entry = entry_of(before, "comment removed", act);
  entry.before = before.text;
  put_log(entry);
  transaction.commit();
}

namespace {

GivenPoints read_points(Statement& row) {
  GivenPoints given;
  given.row.student = row.text();
  given.row.part = static_cast<int>(row.integer());
  given.row.item = row.text();
  given.row.points = row.real();
  given.row.max_points = row.optional_real();
  given.row.comment = row.text();
  given.row.by = row.text();
  given.revision = row.integer();
  given.withdrawn = row.truth();
  given.row.grading = row.text();
  return given;
}

constexpr const char* kPointsColumns =
    "student, part, item, points, max_points, comment, given_by, revision, withdrawn, "
    "coalesce(grading, '')";

}  // namespace

std::vector<GivenPoints> ReviewStore::points() {
  Statement row(database_,
                fmt::format("SELECT {} FROM manual_points m WHERE revision = (SELECT max(revision) "
                            "FROM manual_points n WHERE n.student = m.student AND n.part = m.part "
                            "AND n.item = m.item) ORDER BY student, part, item",
                            kPointsColumns));
  std::vector<GivenPoints> all;
  while (row.step()) all.push_back(read_points(row));
  return all;
}

std::optional<GivenPoints> ReviewStore::newest(const std::string& student, int part,
                                               const std::string& item) {
  Statement row(database_,
                fmt::format("SELECT {} FROM manual_points WHERE student = ? AND part = ? AND item "
                            "= ? ORDER BY revision DESC LIMIT 1",
                            kPointsColumns));
  row.bind(student).bind(part).bind(item);
  if (!row.step()) return std::nullopt;
  return read_points(row);
}

void ReviewStore::check(const PointsTarget& target) {
  for (const auto& [student, revision] : target.revisions) {
    const auto now = newest(student, target.part, target.item);
    if ((now ? now->revision : 0) == revision) continue;
    throw LostUpdate(now ? theirs(now->row.by, words_of(now->row, now->withdrawn))
                         : "these points are not in the database any more");
  }
}

std::int64_t ReviewStore::put_points(const ManualRow& row, bool withdrawn, const ReviewAct& act) {
  const auto before = newest(row.student, row.part, row.item);
  const std::int64_t revision = before ? before->revision + 1 : 1;
  Statement(database_,
            fmt::format("INSERT INTO manual_points (student, part, item, revision, points, "
                        "max_points, comment, given_by, imported_at, withdrawn, grading) VALUES "
                        "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, coalesce(nullif(?11, ''), {}))",
                        kCountingGrading))
      .bind(row.student)
      .bind(row.part)
      .bind(row.item)
      .bind(revision)
      .bind(row.points)
      .bind(row.max_points)
      .bind(row.comment)
      .bind(act.by)
      .bind(act.at)
      .bind(withdrawn)
      .bind(row.grading)
      .run();
  put_log({.at = act.at,
           .by = act.by,
           .what = withdrawn ? "points withdrawn" : "points given",
           .students = {row.student},
           .part = row.part,
           .subject = row.item,
           .before = before ? words_of(before->row, before->withdrawn) : "no points",
           .after = words_of(row, withdrawn)});
  return revision;
}

void ReviewStore::write_points(const PointsTarget& target, double points,
                               std::optional<double> max_points, const std::string& reason,
                               bool withdrawn, const ReviewAct& act) {
  Transaction transaction(database_);
  check(target);
  for (const auto& [student, revision] : target.revisions) {
    put_points({.student = student,
                .part = target.part,
                .item = target.item,
                .points = points,
                .max_points = max_points,
                .comment = reason},
               withdrawn, act);
  }
  transaction.commit();
}

void ReviewStore::give_points(const PointsTarget& target, double points,
                              std::optional<double> max_points, const std::string& reason,
                              const ReviewAct& act) {
  write_points(target, points, max_points, reason, false, act);
}

void ReviewStore::withdraw_points(const PointsTarget& target, const ReviewAct& act) {
  write_points(target, 0, std::nullopt, "", true, act);
}

std::vector<ReviewLogEntry> ReviewStore::log(const LogChoice& choice, std::size_t most) {
  Statement row(
      database_,
      "SELECT at, done_by, what, students, part, subject, before, after FROM review_log WHERE "
      "(?1 = '' OR EXISTS (SELECT 1 FROM json_each(students) WHERE value = ?1)) AND "
      "(?2 = '' OR done_by = ?2) AND (?3 = '' OR what = ?3) AND (?4 = '' OR "
      "instr(lower(students || ' ' || subject || ' ' || before || ' ' || after), lower(?4)) > 0) "
      "ORDER BY entry DESC LIMIT ?5");
  row.bind(choice.student)
      .bind(choice.by)
      .bind(choice.what)
      .bind(choice.words)
      .bind(static_cast<std::int64_t>(most));
  std::vector<ReviewLogEntry> entries;
  while (row.step()) {
    ReviewLogEntry entry;
    entry.at = row.integer();
    entry.by = row.text();
    entry.what = row.text();
    entry.students = nlohmann::json::parse(row.text()).get<std::vector<std::string>>();
    entry.part = static_cast<int>(row.integer());
    entry.subject = row.text();
    entry.before = row.text();
    entry.after = row.text();
    entries.push_back(std::move(entry));
  }
  return entries;
}

LogChoices ReviewStore::log_choices() {
  LogChoices choices;
  Statement by(database_, "SELECT DISTINCT done_by FROM review_log ORDER BY done_by");
  while (by.step()) choices.by.push_back(by.text());
  Statement what(database_, "SELECT DISTINCT what FROM review_log ORDER BY what");
  while (what.step()) choices.what.push_back(what.text());
  return choices;
}

void ReviewStore::put_log(const ReviewLogEntry& entry) {
  Statement(database_,
            "INSERT INTO review_log (at, done_by, what, students, part, subject, before, after) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(entry.at)
      .bind(entry.by)
      .bind(entry.what)
      .bind(nlohmann::json(entry.students).dump())
      .bind(entry.part)
      .bind(entry.subject)
      .bind(entry.before)
      .bind(entry.after)
      .run();
}

}  // namespace rooflab
