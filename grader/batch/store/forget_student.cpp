#include <fmt/format.h>

#include "grader/batch/store/store.h"

namespace rooflab {
namespace {

/// Of ?1, a student's key.
constexpr const char* kOwn = "(SELECT id FROM submissions WHERE student = ?1)";
/// Files that some submission, grading or comment still is about.
constexpr const char* kSourcesInUse =
    "(SELECT source FROM handed_in UNION SELECT source FROM gradings UNION "
    "SELECT source FROM review_comments)";

std::vector<std::string> column(Database& database, const std::string& sql,
                                const std::string& student) {
  Statement row(database, sql);
  row.bind(student);
  std::vector<std::string> texts;
  while (row.step()) texts.push_back(row.text());
  return texts;
}

/// Runs one statement about a student. @return how many rows it has changed
std::size_t change(Database& database, const std::string& sql, const std::string& student) {
  Statement(database, sql).bind(student).run();
  Statement changed(database, "SELECT changes()");
  changed.step();
  return static_cast<std::size_t>(changed.integer());
}

/// Removes the student from the entries of a review's history that are about others as well.
void leave_review_log(Database& database, const std::string& student) {
  constexpr const char* kIsAbout = "EXISTS (SELECT 1 FROM json_each(students) WHERE value = ?1)";
  change(
      database,
      fmt::format("DELETE FROM review_log WHERE json_array_length(students) = 1 AND {}", kIsAbout),
      student);
  change(database,
         fmt::format("UPDATE review_log SET students = (SELECT json_group_array(value) FROM "
                     "json_each(students) WHERE value <> ?1) WHERE {}",
                     kIsAbout),
         student);
}

/// A grading that others have too no longer says whose numbers its questions had.
void leave_gradings(Database& database, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name.empty()) continue;
    change(database,
           "UPDATE gradings SET students = (SELECT json_group_array(value) FROM "
           "json_each(students) WHERE value <> ?1) WHERE EXISTS (SELECT 1 FROM "
           "json_each(students) WHERE value = ?1)",
           name);
  }
}

}  // namespace

StudentTraces Store::traces_of(const std::string& student) {
  StudentTraces traces;
  traces.submissions =
      column(database_, "SELECT called FROM submissions WHERE student = ?1 ORDER BY id", student);
  traces.gradings =
      column(database_,
             fmt::format("SELECT DISTINCT grading FROM grades WHERE submission IN {0} EXCEPT "
                         "SELECT grading FROM grades WHERE submission NOT IN {0}",
                         kOwn),
             student);
  traces.contents = column(
      database_,
      fmt::format(
          "SELECT DISTINCT content FROM sources WHERE source IN (SELECT source FROM handed_in "
          "WHERE "
          "submission IN {0} UNION SELECT source FROM gradings JOIN grades ON name = grading WHERE "
          "submission IN {0}) AND content NOT IN (SELECT content FROM sources WHERE source IN "
          "(SELECT source FROM handed_in WHERE submission NOT IN {0} UNION SELECT source FROM "
          "gradings JOIN grades ON name = grading WHERE submission NOT IN {0}))",
          kOwn),
      student);
  return traces;
}

ForgottenRows Store::forget_student(const std::string& student,
                                    const std::vector<std::string>& names) {
  ForgottenRows gone;
  const auto remove = [&](const std::string& sql) { return change(database_, sql, student); };
  remove(fmt::format("DELETE FROM grades WHERE submission IN {}", kOwn));
  remove(fmt::format("DELETE FROM handed_in WHERE submission IN {}", kOwn));
  gone.submissions = remove("DELETE FROM submissions WHERE student = ?1");
  database_.execute("DELETE FROM hand_questions WHERE grading NOT IN (SELECT grading FROM grades)");
  Statement dead(database_,
                 "SELECT count(*) FROM gradings WHERE name NOT IN (SELECT grading FROM grades)");
  dead.step();
  gone.gradings = static_cast<std::size_t>(dead.integer());
  database_.execute(
      "DELETE FROM evidence WHERE grading NOT IN (SELECT grading FROM grades);"
      "DELETE FROM gradings WHERE name NOT IN (SELECT grading FROM grades)");
  gone.points = remove("DELETE FROM manual_points WHERE student = ?1");
  remove("DELETE FROM regrade_requests WHERE student = ?1");
  remove("DELETE FROM submission_choices WHERE student = ?1");
  remove("DELETE FROM rubric_choices WHERE student = ?1");
  remove("DELETE FROM rubric_grades WHERE student = ?1");
  gone.comments = remove("DELETE FROM review_comment_students WHERE student = ?1");
  database_.execute(
      "DELETE FROM review_comments WHERE comment NOT IN (SELECT comment FROM "
      "review_comment_students)");
  leave_review_log(database_, student);
  leave_gradings(database_, names);
  database_.execute(fmt::format("DELETE FROM sources WHERE source NOT IN {}", kSourcesInUse));
  remove("DELETE FROM students WHERE key = ?1");
  return gone;
}

void Store::overwrite_free_pages() { database_.execute("VACUUM"); }

}  // namespace rooflab
