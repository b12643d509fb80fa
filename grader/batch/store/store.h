#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/batch/platform.h"
#include "grader/batch/store/database.h"
#include "grader/batch/student.h"
#include "grader/spec/result.h"

namespace rooflab {

/// A submission as the database keeps it.
struct SubmissionRow {
  std::string id = {};
  std::string student = {};
  std::string called = {};
  std::optional<std::int64_t> received = {};
  bool marked_late = false;
  bool counts = true;
  /// One of several of which a person chooses, since no time says which is the newest. Before
  /// somebody has chosen none of them counts.
  bool candidate = false;
  std::string problem = {};
  std::vector<std::string> notes = {};
  std::vector<std::string> doubts = {};
  Platform platform = Platform::none;
  std::string return_name = {};  ///< see Submission; empty where no feedback can go back
};

/// What a grading is of: together with the installation, everything that decides its outcome.
struct GradingSubject {
  int part = 0;
  std::string source = {};
  std::string device = {};
  Seed seed;
  std::string versions = {};  ///< of grader, part and toolkit, one line
  /// See GradeRequest::students; empty where no question asked differs from student to student.
  std::vector<std::string> students = {};
  bool operator==(const GradingSubject&) const = default;
};

enum class GradingState : std::uint8_t { pending, graded, fault };

struct GradingRow {
  std::string name = {};
  GradingSubject subject;
  GradingState state = GradingState::pending;
  std::string why = {};       ///< for a fault
  std::string checkout = {};  ///< see GradeResult; empty before it is graded
};

/// The current grade of a submission in a part, and those before it.
struct GradeRow {
  GradingRow grading;
  std::vector<GradingRow> earlier = {};  ///< the newest first
};

struct ManualRow {
  std::string student = {};
  int part = 0;
  std::string item = {};
  double points = 0;
  std::optional<double> max_points = {};
  std::string comment = {};
  std::string by = {};
  /// What counted when they were given. Empty: nobody knows, or, of what is to be written, what
  /// counts now.
  std::string grading = {};
};

/// What counts of a student ?1 in a part ?2, in SQL.
inline constexpr const char* kCountingGrading =
    "(SELECT grading FROM grades JOIN submissions s ON s.id = submission WHERE s.student = ?1 AND "
    "s.counts AND grades.part = ?2 ORDER BY revision DESC LIMIT 1)";

/// A question of free text, for which a person gives points.
struct HandQuestion {
  std::string item = {};
  double max_points = 0;
  bool bonus = false;  ///< no maximum counts its points
  /// What the student wrote, as the grading's worker read it; nothing where none has.
  std::optional<std::string> answer = {};
};

/// A result as its worker hands it in: taken times stand beside it, since they alone differ from
/// run to run.
struct GradedResult {
  GradeResult result;
  std::string evidence = {};  ///< to_evidence of it
  std::string gpu = {};       ///< that it was graded on, as specs/gpus calls it
  double build_s = 0;
  double run_s = 0;
  std::string revealed = {};  ///< to_text of the hidden cases that failed; for instructors alone
  std::vector<HandQuestion> questions = {};       ///< of the part as it was graded
  std::map<std::string, std::string> texts = {};  ///< answers in free text, by item; untrusted
  std::map<std::string, double> numbers = {};     ///< finite answers in numbers, by question
};

/// What a grading came to, before lateness and points by hand.
struct GradedPoints {
  double score = 0;  ///< without bonus
  double bonus = 0;
  double max_score = 0;
};

/// What there is of one student alone, outside of the rows that say so.
struct StudentTraces {
  std::vector<std::string> submissions;  ///< their names in the folder
  std::vector<std::string> gradings;     ///< names of those that nobody else has
  std::vector<std::string> contents;     ///< of files that nobody else has handed in
};

/// How many rows went with a student.
struct ForgottenRows {
  std::size_t submissions = 0;
  std::size_t gradings = 0;  ///< that nobody else has
  std::size_t points = 0;    ///< given by people
  std::size_t comments = 0;  ///< of a review
};

/// Files of one part by their paths relative to a submission, with their contents.
using SourceFiles = std::map<std::string, std::string>;

/// All that a batch knows, in one database. It has one writer, the batch, but for what people write
/// in a review (ReviewStore), who may be several at once. Every function that writes is one
/// transaction, or part of the one that is open. Nobody else knows of its tables.
class Store {
 public:
  /// Opens or makes the database and brings its schema up to date. @throws DatabaseError
  explicit Store(const std::filesystem::path& file);

  /// Until its commit() nothing that is written here has happened. put_result() and put_fault()
  /// are one each and do not go into another.
  [[nodiscard]] Transaction begin() { return Transaction(database_); }

  /// For as long as it lives, everything that is read is of one moment, and nothing can be written.
  [[nodiscard]] ReadTransaction look() { return ReadTransaction(database_); }

  std::optional<std::string> setting(const std::string& name);
  void set(const std::string& name, const std::string& value);

  /// Nobody is on the roster any more, until put_student says so.
  void forget_roster();
  /// Keeps what is known of a student; what a roster said is not replaced by what a submission
  /// says.
  void put_student(const Student& student, int position);
  std::vector<Student> students();  ///< in their order

  StudentTraces traces_of(const std::string& student);
  /// Removes a student with all that is of nobody else: submissions, files, gradings with their
  /// evidence and answers, points, comments and the history of a review.
  /// @param names by which questions may have had the student's own numbers
  ForgottenRows forget_student(const std::string& student, const std::vector<std::string>& names);
  /// Overwrites what was deleted before the database did so by itself, in no transaction. It needs
  /// room for a second copy of the database.
  void overwrite_free_pages();

  /// Marks every submission as gone from the folder, until put_submission finds it again.
  void forget_presence();
  void put_submission(const SubmissionRow& row);
  /// @param sources part -> hash of what was handed in for it; replaces what was known
  void put_handed_in(const std::string& submission, const std::map<int, std::string>& sources);
  void put_source(const std::string& source, const SourceFiles& files);
  SourceFiles source(const std::string& source);
  bool has_file(const std::string& source, const std::string& path);
  /// By student, those that count first, then by id; `present` ones only.
  std::vector<SubmissionRow> submissions();
  std::map<int, std::string> handed_in(const std::string& submission);

  std::optional<GradeRow> grade(const std::string& submission, int part);
  /// Gives the submission the newest grading of this subject, which is made if there is none.
  /// @param again makes a new one even where there is one that is finished
  /// @return whether that changed anything
  bool assign_grading(const std::string& submission, const GradingSubject& subject, bool again);
  /// Those that some submission's grade waits for, by part and name.
  std::vector<GradingRow> pending();
  void put_result(const std::string& grading, const GradedResult& graded, std::int64_t now);
  /// @param graded what there is of a result; may be null
  void put_fault(const std::string& grading, const std::string& why, const GradedResult* graded,
                 std::int64_t now);
  /// The whole result: what a task came to stands here alone. Empty when there is none.
  std::string evidence(const std::string& grading);
  /// The hidden cases that failed, whole; empty when nothing was kept. For instructors alone.
  std::string revealed(const std::string& grading);
  /// What the grading left to a person; nothing where an older grader did not keep it.
  std::optional<std::vector<HandQuestion>> hand_questions(const std::string& grading);
  /// Numbers that were handed in as answers, by question; none where nobody kept them.
  std::map<std::string, double> numbers(const std::string& grading);
  std::optional<GradingRow> grading(const std::string& name);
  /// Nothing without a result. They stand beside the evidence: a grade that was given stays,
  /// whoever can still read what it was given for.
  std::optional<GradedPoints> points_of(const std::string& grading);
  /// When the newest result came in, in seconds since 1970; nothing before the first.
  std::optional<std::int64_t> last_graded_at();

  /// Keeps points that a person gave. @return what they were before, if they differ
  std::optional<double> put_manual(const ManualRow& row, std::int64_t now);
  std::vector<ManualRow> manual_points();  ///< those that count, by student, part and item

 private:
  friend class ReviewStore;
  friend class RequestStore;
  friend class ChoiceStore;
  Database database_;
};

const char* name_of(GradingState state);

}  // namespace rooflab
