#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "grader/batch/course.h"
#include "grader/batch/outputs/class_results.h"
#include "grader/batch/store/store.h"

namespace rooflab {

/// How `--regrade` is written, for messages and help.
inline constexpr const char* kRegradeRules =
    "a student, failed, changed, student=NAME, part=NUMBER, task=TASK (was graded), lost=TASK "
    "(lost "
    "points), code=RL0305 (was reported), or version=grader, part or hidden (was another one); "
    "several of these with commas between them for those that all of them fit";

/// A grade that may be made anew, with what rules ask of it.
struct GradeToChoose {
  const std::vector<std::string>& names;  ///< that the submission goes by
  const GradingRow& grading;              ///< that it has
  const GradingSubject& wanted;           ///< what would be graded now
  /// The tasks of the grading. Asked only by rules about them.
  std::function<const std::vector<TaskLine>&()> tasks;
};

enum class Regrade : std::uint8_t {
  no,
  changed,  ///< by a grading of what there is now, one of an equal submission too
  again,    ///< by a new grading, even of what is the same
};

/// What is graded again on request.
class RegradeRules {
 public:
  /// @param words each as kRegradeRules tells; a grade is chosen that one of them fits
  /// @throws BatchError for a part, task, code or version that there is not, naming what there is
  RegradeRules(const std::vector<std::string>& words, const Course& course);

  /// A submission of the class, whether it has a grade or not.
  void see(const std::vector<std::string>& names);
  Regrade decide(const GradeToChoose& grade);

  /// What should be said of rules that chose nothing, a line each.
  /// @throws BatchError for a name that no submission goes by
  std::vector<std::string> finish() const;

 private:
  enum class Kind : std::uint8_t { student, failed, changed, part, task, lost, code, version };
  struct Condition {
    Kind kind;
    std::string value;
  };
  struct Rule {
    std::string words;
    std::vector<Condition> conditions;
    bool sees_names = false;  ///< everybody it names is in the class
    bool has_chosen = false;
  };

  static Rule rule_of(const std::string& words, const Course& course);
  static Condition condition_of(const std::string& words, const Course& course);
  static void check(const Condition& condition, const std::string& words, const Course& course);
  static bool fits(const Condition& condition, const GradeToChoose& grade);

  std::vector<Rule> rules_;
};

}  // namespace rooflab
