#include "grader/batch/store/store.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "grader/batch/fingerprint.h"
#include "grader/batch/store/schema.h"

namespace rooflab {
namespace {

GradingState state_of(const std::string& name) {
  if (name == "pending") return GradingState::pending;
  return name == "graded" ? GradingState::graded : GradingState::fault;
}

constexpr const char* kGradingColumns =
    "g.name, g.part, g.source, g.device, g.seed, g.versions, g.students, g.state, g.why, "
    "g.checkout";

GradingRow read_grading(Statement& row) {
  GradingRow grading;
  grading.name = row.text();
  grading.subject.part = static_cast<int>(row.integer());
  grading.subject.source = row.text();
  grading.subject.device = row.text();
  grading.subject.seed = seed_of(row.text());
  grading.subject.versions = row.text();
  grading.subject.students = nlohmann::json::parse(row.text()).get<std::vector<std::string>>();
  grading.state = state_of(row.text());
  grading.why = row.text();
  grading.checkout = row.text();
  return grading;
}

std::string key_of(const GradingSubject& subject) {
  return Fingerprint()
      .add(std::to_string(subject.part))
      .add(subject.source)
      .add(subject.device)
      .add(text_of(subject.seed))
      .add(subject.versions)
      .add(nlohmann::json(subject.students).dump())
      .hex();
}

/// Short enough for a folder's name. 128 bits: nobody finds two of one name.
std::string grading_name(const std::string& key, std::int64_t run) {
  constexpr std::size_t kDigits = 32;
  return fmt::format("{}-{}", key.substr(0, kDigits), run);
}

}  // namespace

const char* name_of(GradingState state) {
  switch (state) {
    case GradingState::pending:
      return "pending";
    case GradingState::graded:
      return "graded";
    case GradingState::fault:
      return "fault";
  }
  return "";
}

Store::Store(const std::filesystem::path& file) : database_(file) { migrate(database_); }

std::optional<std::string> Store::setting(const std::string& name) {
  Statement statement(database_, "SELECT value FROM settings WHERE name = ?");
  statement.bind(name);
  if (!statement.step()) return std::nullopt;
  return statement.text();
}

void Store::set(const std::string& name, const std::string& value) {
  Statement(database_, "INSERT OR REPLACE INTO settings VALUES (?, ?)")
      .bind(name)
      .bind(value)
      .run();
}

void Store::forget_roster() { database_.execute("UPDATE students SET on_roster = 0"); }

void Store::put_student(const Student& student, int position) {
  Statement(database_,
            "INSERT INTO students VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) "
            "ON CONFLICT (key) DO UPDATE SET position = ?2, name = ?3, email = ?4, login = ?5, "
            "section = ?6, sis_id = ?7, canvas_id = ?8, moodle_identifier = ?9, on_roster = ?10 "
            "WHERE ?10 OR NOT on_roster")
      .bind(student.key)
      .bind(position)
      .bind(student.name)
      .bind(student.email)
      .bind(student.login)
      .bind(student.section)
      .bind(student.sis_id)
      .bind(student.canvas_id)
      .bind(student.moodle_identifier)
      .bind(student.on_roster)
      .run();
}

std::vector<Student> Store::students() {
  Statement row(database_,
                "SELECT key, name, email, login, section, sis_id, canvas_id, moodle_identifier, "
                "on_roster FROM students ORDER BY on_roster DESC, position, key");
  std::vector<Student> students;
  while (row.step()) {
    Student student;
    for (std::string* text :
         {&student.key, &student.name, &student.email, &student.login, &student.section,
          &student.sis_id, &student.canvas_id, &student.moodle_identifier}) {
      *text = row.text();
    }
    student.on_roster = row.truth();
    students.push_back(std::move(student));
  }
  return students;
}

void Store::forget_presence() { database_.execute("UPDATE submissions SET present = 0"); }

void Store::put_submission(const SubmissionRow& row) {
  Statement(database_,
            "INSERT INTO submissions (id, student, called, received, marked_late, counts, present, "
            "problem, notes, doubts, platform, return_name, candidate) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8, ?9, ?10, ?11, ?12) "
            "ON CONFLICT (id) DO UPDATE SET student = ?2, called = ?3, received = ?4, "
            "marked_late = ?5, counts = ?6, present = 1, problem = ?7, notes = ?8, doubts = ?9, "
            "platform = ?10, return_name = ?11, candidate = ?12")
      .bind(row.id)
      .bind(row.student)
      .bind(row.called)
      .bind(row.received)
      .bind(row.marked_late)
      .bind(row.counts)
      .bind(row.problem)
      .bind(nlohmann::json(row.notes).dump())
      .bind(nlohmann::json(row.doubts).dump())
      .bind(name_of(row.platform))
      .bind(row.return_name)
      .bind(row.candidate)
      .run();
}

void Store::put_handed_in(const std::string& submission,
                          const std::map<int, std::string>& sources) {
  Statement(database_, "DELETE FROM handed_in WHERE submission = ?").bind(submission).run();
  Statement insert(database_, "INSERT INTO handed_in VALUES (?, ?, ?)");
  for (const auto& [part, source] : sources) insert.bind(submission).bind(part).bind(source).run();
}

void Store::put_source(const std::string& source, const SourceFiles& files) {
  Statement insert(database_, "INSERT OR IGNORE INTO sources VALUES (?, ?, ?)");
  for (const auto& [path, content] : files)
    insert.bind(source).bind(path).bind_bytes(content).run();
}

SourceFiles Store::source(const std::string& source) {
  Statement row(database_, "SELECT path, content FROM sources WHERE source = ?");
  row.bind(source);
  SourceFiles files;
  while (row.step()) {
    std::string path = row.text();
    files[std::move(path)] = row.text();
  }
  return files;
}

bool Store::has_file(const std::string& source, const std::string& path) {
  Statement row(database_, "SELECT 1 FROM sources WHERE source = ? AND path = ?");
  return row.bind(source).bind(path).step();
}

std::vector<SubmissionRow> Store::submissions() {
  Statement row(
      database_,
      "SELECT id, student, called, received, marked_late, counts, problem, notes, doubts, "
      "platform, return_name, candidate "
      "FROM submissions WHERE present ORDER BY student, counts DESC, id");
  std::vector<SubmissionRow> rows;
  while (row.step()) {
    SubmissionRow one;
    one.id = row.text();
    one.student = row.text();
    one.called = row.text();
    one.received = row.optional_integer();
    one.marked_late = row.truth();
    one.counts = row.truth();
    one.problem = row.text();
    one.notes = nlohmann::json::parse(row.text()).get<std::vector<std::string>>();
    one.doubts = nlohmann::json::parse(row.text()).get<std::vector<std::string>>();
    one.platform = platform_of(row.text());
    one.return_name = row.text();
    one.candidate = row.truth();
    rows.push_back(std::move(one));
  }
  return rows;
}

std::map<int, std::string> Store::handed_in(const std::string& submission) {
  Statement row(database_, "SELECT part, source FROM handed_in WHERE submission = ?");
  row.bind(submission);
  std::map<int, std::string> sources;
  while (row.step()) {
    const auto part = static_cast<int>(row.integer());
    sources[part] = row.text();
  }
  return sources;
}

std::optional<GradeRow> Store::grade(const std::string& submission, int part) {
  Statement row(database_, fmt::format("SELECT {} FROM grades JOIN gradings g ON g.name = grading "
                                       "WHERE submission = ? AND grades.part = ? "
                                       "ORDER BY revision DESC",
                                       kGradingColumns));
  row.bind(submission).bind(part);
  if (!row.step()) return std::nullopt;
  GradeRow grade{.grading = read_grading(row), .earlier = {}};
  while (row.step()) grade.earlier.push_back(read_grading(row));
  return grade;
}

bool Store::assign_grading(const std::string& submission, const GradingSubject& subject,
                           bool again) {
  const std::string key = key_of(subject);
  Statement newest(database_,
                   "SELECT run, state FROM gradings WHERE grading_key = ? ORDER BY run DESC");
  newest.bind(key);
  std::int64_t run = 1;
  bool exists = newest.step();
  if (exists) {
    run = newest.integer();
    if (again && newest.text() != "pending") {
      ++run;
      exists = false;
    }
  }
  const std::string name = grading_name(key, run);
  const auto current = grade(submission, subject.part);
  if (current && current->grading.name == name) return false;
  if (!exists) {
    Statement(database_,
              "INSERT INTO gradings (name, grading_key, run, part, source, device, seed, versions, "
              "students, state, why) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', '')")
        .bind(name)
        .bind(key)
        .bind(run)
        .bind(subject.part)
        .bind(subject.source)
        .bind(subject.device)
        .bind(text_of(subject.seed))
        .bind(subject.versions)
        .bind(nlohmann::json(subject.students).dump())
        .run();
  }
  Statement(database_,
            "INSERT INTO grades SELECT ?1, ?2, coalesce(max(revision), 0) + 1, ?3 FROM grades "
            "WHERE submission = ?1 AND part = ?2")
      .bind(submission)
      .bind(subject.part)
      .bind(name)
      .run();
  return true;
}

std::vector<GradingRow> Store::pending() {
  Statement row(database_,
                fmt::format("SELECT {} FROM gradings g WHERE state = 'pending' AND EXISTS ("
                            "SELECT 1 FROM grades a WHERE a.grading = g.name AND "
                            "revision = (SELECT max(revision) FROM grades b WHERE "
                            "b.submission = a.submission AND b.part = a.part)) "
                            "ORDER BY part, name",
                            kGradingColumns));
  std::vector<GradingRow> gradings;
  while (row.step()) gradings.push_back(read_grading(row));
  return gradings;
}

std::optional<GradingRow> Store::grading(const std::string& name) {
  Statement row(database_,
                fmt::format("SELECT {} FROM gradings g WHERE name = ?", kGradingColumns));
  row.bind(name);
  if (!row.step()) return std::nullopt;
  return read_grading(row);
}

namespace {

double sum_of(const std::vector<HandQuestion>& questions) {
  double sum = 0;
  for (const HandQuestion& question : questions) sum += question.bonus ? 0 : question.max_points;
  return sum;
}

void put_questions(Database& database, const std::string& grading,
                   const std::vector<HandQuestion>& questions) {
  Statement(database, "DELETE FROM hand_questions WHERE grading = ?").bind(grading).run();
  Statement insert(database, "INSERT INTO hand_questions VALUES (?, ?, ?, ?, ?, ?)");
  for (std::size_t position = 0; position < questions.size(); ++position) {
    insert.bind(grading)
        .bind(static_cast<std::int64_t>(position))
        .bind(questions[position].item)
        .bind(questions[position].max_points)
        .bind(questions[position].answer)
        .bind(questions[position].bonus)
        .run();
  }
}

void put_outcome(Database& database, const std::string& grading, const char* state,
                 const std::string& why, const GradedResult* graded, std::int64_t now) {
  Statement update(database,
                   "UPDATE gradings SET state = ?2, why = ?3, checkout = ?4, score = ?5, max_score "
                   "= ?6, bonus = ?7, build_s = ?8, run_s = ?9, max_manual = ?10, numbers = ?11, "
                   "graded_at = ?12 WHERE name = ?1");
  update.bind(grading).bind(state).bind(why);
  if (graded != nullptr) {
    update.bind(graded->result.checkout)
        .bind(graded->result.score())
        .bind(graded->result.max_score())
        .bind(graded->result.bonus())
        .bind(graded->build_s)
        .bind(graded->run_s)
        .bind(sum_of(graded->questions))
        .bind(nlohmann::json(graded->numbers).dump());
  } else {
    update.bind("");
    for (int column = 0; column < 7; ++column) update.bind_null();
  }
  update.bind(now).run();
  Statement(database, "DELETE FROM evidence WHERE grading = ?").bind(grading).run();
  if (graded == nullptr) return;
  Statement(database, "INSERT INTO evidence VALUES (?, ?, ?)")
      .bind(grading)
      .bind(graded->evidence)
      .bind(graded->revealed)
      .run();
}

}  // namespace

void Store::put_result(const std::string& grading, const GradedResult& graded, std::int64_t now) {
  Transaction transaction(database_);
  set("gpu", graded.gpu);
  set("time_kind", graded.result.time_kind);
  put_outcome(database_, grading, "graded", "", &graded, now);
  put_questions(database_, grading, graded.questions);
  transaction.commit();
}

void Store::put_fault(const std::string& grading, const std::string& why,
                      const GradedResult* graded, std::int64_t now) {
  Transaction transaction(database_);
  put_outcome(database_, grading, "fault", why, graded, now);
  transaction.commit();
}

std::string Store::evidence(const std::string& grading) {
  Statement row(database_, "SELECT evidence FROM evidence WHERE grading = ?");
  row.bind(grading);
  return row.step() ? row.text() : "";
}

std::string Store::revealed(const std::string& grading) {
  Statement row(database_, "SELECT revealed FROM evidence WHERE grading = ?");
  row.bind(grading);
  return row.step() ? row.text() : "";
}

std::map<std::string, double> Store::numbers(const std::string& grading) {
  Statement row(database_, "SELECT coalesce(numbers, '{}') FROM gradings WHERE name = ?");
  row.bind(grading);
  if (!row.step()) return {};
  try {
    return nlohmann::json::parse(row.text()).get<std::map<std::string, double>>();
  } catch (const nlohmann::json::exception&) {  // costs notes for people, and no points
    return {};
  }
}

std::optional<std::vector<HandQuestion>> Store::hand_questions(const std::string& grading) {
  Statement known(database_, "SELECT max_manual FROM gradings WHERE name = ?");
  known.bind(grading);
  if (!known.step() || !known.optional_real()) return std::nullopt;
  Statement row(database_,
                "SELECT item, max_points, bonus, answer IS NOT NULL, coalesce(answer, '') FROM "
                "hand_questions WHERE grading = ? ORDER BY position");
  row.bind(grading);
  std::vector<HandQuestion> questions;
  while (row.step()) {
    HandQuestion question;
    question.item = row.text();
    question.max_points = row.real();
    question.bonus = row.truth();
    const bool is_known = row.integer() != 0;
    std::string answer = row.text();
    if (is_known) question.answer = std::move(answer);
    questions.push_back(std::move(question));
  }
  return questions;
}

std::optional<GradedPoints> Store::points_of(const std::string& grading) {
  Statement row(database_,
                "SELECT score, bonus, max_score FROM gradings WHERE name = ? AND score NOTNULL");
  row.bind(grading);
  if (!row.step()) return std::nullopt;
  GradedPoints points;
  points.score = row.real();
  points.bonus = row.real();
  points.max_score = row.real();
  return points;
}

std::optional<std::int64_t> Store::last_graded_at() {
  Statement row(database_, "SELECT max(graded_at) FROM gradings");
  row.step();
  return row.optional_integer();
}

std::optional<double> Store::put_manual(const ManualRow& row, std::int64_t now) {
  Statement newest(
      database_,
      fmt::format("SELECT withdrawn, points, max_points, comment, given_by, grading IS {} "
                  "FROM manual_points WHERE student = ?1 AND part = ?2 AND item = ?3 "
                  "ORDER BY revision DESC LIMIT 1",
                  kCountingGrading));
  newest.bind(row.student).bind(row.part).bind(row.item);
  std::optional<double> before;
  if (newest.step() && !newest.truth()) {
    before = newest.real();
    const bool same = *before == row.points && newest.optional_real() == row.max_points &&
                      newest.text() == row.comment && newest.text() == row.by && newest.truth();
    if (same) return std::nullopt;
  }
  Statement(
      database_,
      fmt::format(
          "INSERT INTO manual_points (student, part, item, revision, points, max_points, comment, "
          "given_by, imported_at, grading) SELECT ?1, ?2, ?3, coalesce(max(revision), 0) + 1, ?4, "
          "?5, ?6, ?7, ?8, {} FROM manual_points WHERE student = ?1 AND part = ?2 AND item = ?3",
          kCountingGrading))
      .bind(row.student)
      .bind(row.part)
      .bind(row.item)
      .bind(row.points)
      .bind(row.max_points)
      .bind(row.comment)
      .bind(row.by)
      .bind(now)
      .run();
  return before && *before != row.points ? before : std::nullopt;
}

std::vector<ManualRow> Store::manual_points() {
  Statement row(database_,
                "SELECT student, part, item, points, max_points, comment, given_by, "
                "coalesce(grading, '') FROM manual_points m WHERE revision = (SELECT max(revision) "
                "FROM manual_points n WHERE "
                "n.student = m.student AND n.part = m.part AND n.item = m.item) AND NOT withdrawn "
                "ORDER BY student, part, item");
  std::vector<ManualRow> rows;
  while (row.step()) {
    ManualRow one;
    one.student = row.text();
    one.part = static_cast<int>(row.integer());
    one.item = row.text();
    one.points = row.real();
    one.max_points = row.optional_real();
    one.comment = row.text();
    one.by = row.text();
    one.grading = row.text();
    rows.push_back(std::move(one));
  }
  return rows;
}

}  // namespace rooflab
