#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grader/batch/outputs/class_results.h"
#include "grader/spec/result.h"

/// What a class understood and what it did not: by task, question and case, from the evidence of
/// its gradings. Submissions are counted, and not students: partners hand in one.
namespace rooflab {

/// So many submissions have to be told apart by a question before it says how well it does that.
inline constexpr std::size_t kLeastForDiscrimination = 20;
/// And so many of them on either side.
inline constexpr std::size_t kLeastOnEachSide = 5;
/// A wrong answer is shared by so many at least.
inline constexpr std::size_t kLeastShared = 2;

/// Where a submission stands in the class.
using SubmissionIndex = std::size_t;  ///< of ClassResults::students: the first who handed it in

/// A group of cases, or a timed case, that took points.
struct PointsLost {
  std::string name = {};
  std::string title = {};
  bool is_speed = false;
  std::size_t submissions = 0;
  double points = 0;  ///< of all of them
};

struct CaseFailures {
  std::string name = {};
  bool is_hidden = false;
  std::string group = {};
  std::size_t ran = 0;  ///< submissions whose result has the case
  std::size_t failed = 0;
};

/// Where one submission was told a code: the first of its places in the task.
struct Sighting {
  SubmissionIndex submission = 0;
  std::string grading = {};
  std::string file = {};  ///< of the student's own, relative to the submission; may be empty
  std::uint32_t line = 0;
  std::string message = {};  ///< the cause; it may quote the student's names
};

struct CodeSightings {
  std::string code = {};
  std::vector<Sighting> sightings = {};  ///< one for each submission
};

struct TimedEfficiencies {
  std::string name = {};
  std::vector<double> efficiencies = {};  ///< of those that pass the task
};

struct TaskAnalysis {
  std::string id = {};
  std::string title = {};
  bool is_bonus = false;
  std::size_t submissions = 0;
  std::size_t passed = 0;
  double max_score = 0;
  double points = 0;                          ///< of all submissions
  std::vector<PointsLost> lost = {};          ///< most points first
  std::vector<CaseFailures> cases = {};       ///< of cases that somebody fails, most first
  std::vector<TimedEfficiencies> timed = {};  ///< in the order of the part
  std::vector<CodeSightings> codes = {};      ///< most submissions first
};

/// A wrong answer that several share.
struct SharedAnswer {
  std::string given = {};  ///< empty where they share a cause and not a number
  std::string cause = {};  ///< where the key knows it
  std::size_t submissions = 0;
};

/// Those who have a question right against those who have it wrong, by what else they have.
struct Discrimination {
  double right_share = 0;  ///< mean share of the part's other points
  double wrong_share = 0;
  /// Point-biserial correlation of the question with these points, from -1 to 1.
  double correlation = 0;
};

struct QuestionAnalysis {
  std::string task = {};
  std::string id = {};
  std::string prompt = {};
  std::size_t right = 0;
  std::size_t wrong = 0;  ///< without those of another unit
  std::size_t other_unit = 0;
  std::size_t unreadable = 0;
  std::size_t missing = 0;
  std::vector<SharedAnswer> shared = {};              ///< most first
  std::optional<Discrimination> discrimination = {};  ///< where the class is large enough

  std::size_t asked() const { return right + wrong + other_unit + unreadable + missing; }
};

/// Of a task, from the journals that students share.
struct JournalAnalysis {
  std::string task = {};
  std::size_t students = 0;  ///< submissions with runs of it
  std::size_t passed = 0;
  std::vector<double> runs = {};                  ///< until the first that passed
  std::vector<double> hints = {};                 ///< seen by then
  std::map<std::string, std::size_t> codes = {};  ///< met on the way -> submissions
};

struct PartAnalysis {
  int number = 0;
  std::string title = {};
  std::size_t submissions = 0;
  std::size_t journals = 0;
  std::vector<TaskAnalysis> tasks = {};
  std::vector<QuestionAnalysis> questions = {};
  std::vector<JournalAnalysis> runs = {};
};

bool asks_questions(const PartAnalysis& part, const TaskAnalysis& task);

struct CodeInTask {
  const TaskAnalysis* task;
  const CodeSightings* code;
};
/// The codes of a part's tasks, those of most submissions first. Of questions there are none: a
/// code says less than they do.
std::vector<CodeInTask> commonest_codes(const PartAnalysis& part);

struct ClassAnalysis {
  std::vector<PartAnalysis> parts = {};
};

/// Collects the gradings of a class one by one, since they are large.
class ClassAnalyst {
 public:
  /// @param results for as long as the analyst lives
  explicit ClassAnalyst(const ClassResults& results);

  /// A graded part of a student; what a partner of theirs handed in before is passed over.
  void add(SubmissionIndex student, const GradeResult& grading, const std::string& name);
  ClassAnalysis finish() &&;

 private:
  /// A submission's answer to a question, and what else it has.
  struct Answered {
    bool is_right = false;
    double other_share = 0;
  };
  using QuestionKey = std::pair<std::string, std::string>;  ///< task, question
  struct PartNotes {
    std::set<std::string> seen;  ///< submissions, by their names
    std::map<QuestionKey, std::vector<Answered>> answered;
    /// Wrong answers by their cause, "" for one that is not known, and how many gave each.
    std::map<QuestionKey, std::map<std::string, std::map<std::string, std::size_t>>> wrong;
  };

  void add_task(PartAnalysis& part, const TaskResult& task, SubmissionIndex student,
                const std::string& grading);
  void add_answers(PartAnalysis& part, PartNotes& notes, const GradeResult& grading,
                   const TaskResult& task);
  static void finish_questions(PartAnalysis& part, PartNotes& notes);

  const ClassResults& results_;
  ClassAnalysis analysis_;
  std::map<int, PartNotes> notes_;
};

/// All of a class that was graded. @param load may throw, which costs that grading alone
ClassAnalysis analyse_class(const ClassResults& results, const LoadGrading& load);

}  // namespace rooflab
