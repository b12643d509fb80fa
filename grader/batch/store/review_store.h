#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "grader/batch/store/store.h"

/// What people write when they review a graded class: comments, points with a reason, rubrics. It
/// stands in the batch's database. Several may write at once.
namespace rooflab {

/// Who does something in a review, and when (seconds since 1970).
struct ReviewAct {
  std::string by;
  std::int64_t at = 0;
};

/// Somebody else has changed meanwhile what was to be changed. Nothing was written.
class LostUpdate : public std::runtime_error {
 public:
  /// @param theirs what stands there now, with who wrote it
  explicit LostUpdate(const std::string& theirs) : std::runtime_error(theirs) {}
};

/// A comment on a line of a submission, on one of its files, or on all of it.
struct ReviewComment {
  std::int64_t id = 0;
  std::set<std::string> students = {};  ///< whose submission it is about
  int part = 0;
  std::string source = {};  ///< the set of files whose lines are meant
  std::string path = {};    ///< empty: the submission as a whole
  std::uint32_t line = 0;   ///< from 1; 0: no line of its own
  std::string text = {};
  std::string by = {};
  std::int64_t at = 0;
  std::int64_t version = 0;
};

/// Points that were given by hand as they stand now, with what tells whether they have changed.
struct GivenPoints {
  ManualRow row;
  std::int64_t revision = 0;
  bool withdrawn = false;  ///< none count
};

/// What is given points for: of each student how it stood when its writer looked, 0 where there
/// was nothing.
struct PointsTarget {
  std::map<std::string, std::int64_t> revisions;  ///< by student; partners get the same
  int part = 0;
  std::string item = {};
};

/// What an answer earns, or loses, points for.
struct RubricLine {
  std::int64_t id = 0;
  int part = 0;
  std::string item = {};  ///< the question
  std::string text = {};
  double points = 0;
  std::int64_t version = 0;
};

/// How one answer was graded by the rubric.
struct RubricGrade {
  std::set<std::int64_t> chosen = {};
  double adjustment = 0;     ///< points beside the chosen lines
  std::string comment = {};  ///< words beside theirs
};

/// ReviewLogEntry::part of what concerns a submission in all of its parts.
inline constexpr int kEveryPart = -1;

/// Each item of a rubric with its version, by the item's id: what the rubric was when somebody read
/// it.
using RubricVersions = std::map<std::int64_t, std::int64_t>;

/// One thing that was done in a review.
struct ReviewLogEntry {
  std::int64_t at = 0;
  std::string by = {};
  std::string what = {};
  std::vector<std::string> students = {};
  int part = 0;
  std::string subject = {};
  std::string before = {};
  std::string after = {};
};

/// Of what was done in a review, what is looked at; empty: all.
struct LogChoice {
  std::string student = {};  ///< key
  std::string by = {};
  std::string what = {};   ///< "points given"
  std::string words = {};  ///< in a student's key, the subject, or what was written
};
/// What there is to choose from.
struct LogChoices {
  std::vector<std::string> by = {}, what = {};
};

/// The points of an answer: those of its chosen lines and its adjustment, from 0 to `most`.
double rubric_points(const std::vector<RubricLine>& lines, const RubricGrade& grade, double most);
/// What the student reads of them: "names the limit (+2)", a line each, then the comment.
std::string rubric_words(const std::vector<RubricLine>& lines, const RubricGrade& grade);
RubricVersions versions_of(const std::vector<RubricLine>& lines);
/// "+2", "-0.5", "0".
std::string signed_points(double points);

/// Every function that writes is one transaction, keeps what was there in the log, and throws
/// LostUpdate where a version is no longer the newest.
class ReviewStore {
 public:
  explicit ReviewStore(Store& store) : database_(store.database_) {}

  std::vector<ReviewComment> comments();  ///< by part, path, line and age
  std::int64_t add_comment(const ReviewComment& comment, const ReviewAct& act);
  void change_comment(std::int64_t id, std::int64_t version, const std::string& text,
                      const ReviewAct& act);
  void remove_comment(std::int64_t id, std::int64_t version, const ReviewAct& act);

  /// The newest of every student, part and item, withdrawn ones too.
  std::vector<GivenPoints> points();
  void give_points(const PointsTarget& target, double points, std::optional<double> max_points,
                   const std::string& reason, const ReviewAct& act);
  void withdraw_points(const PointsTarget& target, const ReviewAct& act);

  std::vector<RubricLine> rubric(int part, const std::string& item);
  /// Lines that the course has, where the question never had any.
  void begin_rubric(int part, const std::string& item, const std::vector<RubricLine>& lines);
  void add_rubric_line(const RubricLine& line, const ReviewAct& act);
  /// Gives everybody who has the line its new points and text.
  /// @return how many students' points were written anew
  std::size_t change_rubric_line(const RubricLine& line, const ReviewAct& act);
  /// Takes it from everybody who has it. @return likewise
  std::size_t remove_rubric_line(std::int64_t id, std::int64_t version, const ReviewAct& act);

  /// How the answer was graded; nothing where it was not, or where its points were given in another
  /// way since.
  std::optional<RubricGrade> rubric_grade(const std::string& student, int part,
                                          const std::string& item);
  /// @param seen the rubric by which the grade was made: a newer one is LostUpdate, since its
  /// writer has not read it
  void grade_answer(const PointsTarget& target, const RubricGrade& grade,
                    const RubricVersions& seen, double most, const ReviewAct& act);

  /// What was done, the newest first.
  std::vector<ReviewLogEntry> log(const LogChoice& choice, std::size_t most);
  LogChoices log_choices();
  /// Alone of all functions that write, this is part of the transaction that is open.
  void put_log(const ReviewLogEntry& entry);

 private:
  std::optional<GivenPoints> newest(const std::string& student, int part, const std::string& item);
  void check(const PointsTarget& target);
  std::int64_t put_points(const ManualRow& row, bool withdrawn, const ReviewAct& act);
  void write_points(const PointsTarget& target, double points, std::optional<double> max_points,
                    const std::string& reason, bool withdrawn, const ReviewAct& act);
  ReviewComment comment_to_change(std::int64_t id, std::int64_t version);
  RubricLine line_to_change(std::int64_t id, std::int64_t version);
  void put_grade(const std::string& student, int part, const std::string& item,
                 std::int64_t revision, const RubricGrade& grade);
  std::vector<std::string> students_with(std::int64_t rubric_line);
  std::size_t grade_again(const RubricLine& line, const std::vector<std::string>& students,
                          const ReviewAct& act);

  Database& database_;
};

}  // namespace rooflab
