#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "grader/batch/outputs/class_results.h"
#include "grader/batch/outputs/class_statistics.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/part_view.h"

namespace rooflab {

/// What Gradescope reads as results.json, for one student: one test for each task of each part. The
/// total is the score, since bonus, lateness and points by hand are no tests. When the grader
/// failed in a part or has not graded it yet, there is no score anywhere: Gradescope would add up
/// what is left. While answers wait for a person there is no total, and Gradescope adds up the
/// tests without those answers, as it does for an autograder beside questions that are graded by
/// hand.
class GradescopeJson {
 public:
  /// @param standing for the leaderboard, where one is wanted
  GradescopeJson(const ClassResults& results, const StudentOutcome& student,
                 std::optional<Standing> standing);
  void add(const PartView& part);
  std::string finish() &&;

 private:
  void add_task(const PartView& part, std::size_t index);
  void add_unread_tasks(const PartView& part);
  double kept_in_tests(const PartOutcome& outcome) const;
  void add_manual(const PartView& part);
  static nlohmann::ordered_json part_json(const PartView& part);
  bool scores_tests() const { return missing_ <= Missing::points; }
  void add_test(nlohmann::ordered_json test, double score, double max_score);

  const ClassResults& results_;
  const StudentOutcome& student_;
  std::optional<Standing> standing_;
  Missing missing_;
  std::string output_;
  nlohmann::ordered_json tests_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json parts_ = nlohmann::ordered_json::array();
  double execution_time_s_ = 0;
};

}  // namespace rooflab
