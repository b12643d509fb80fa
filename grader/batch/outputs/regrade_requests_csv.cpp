#include <fmt/format.h>

#include "grader/batch/intake/csv.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/gradebooks.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

std::string points_or_none(const std::optional<double>& points) {
  return points ? gradebook_points(*points) : "";
}

/// Whether a granted request was graded again.
const char* regrade_words(const RegradeRequest& request) {
  if (!request.grading.empty()) return "started";
  return request.regrade ? "by the next grader batch" : "";
}

std::vector<std::string> row_of(const StudentOutcome& student, const RegradeRequest& request) {
  const PartOutcome* outcome = outcome_of(student, request.part);
  return {std::to_string(request.id),
          one_line(student.student.key),
          one_line(student.student.name),
          std::to_string(request.part),
          one_line(request.task),
          one_line(request.why),
          one_line(request.asked_by),
          utc_time(request.asked_at),
          name_of(request.state),
          one_line(request.reason),
          one_line(request.decided_by),
          request.decided_at ? utc_time(*request.decided_at) : "",
          regrade_words(request),
          points_or_none(request.old_score),
          points_or_none(outcome == nullptr ? std::nullopt : score_of(*outcome))};
}

}  // namespace

std::string regrade_requests_csv(const ClassResults& results, const OutputOptions& /*options*/) {
  CsvTable table{{"request", "student", "name", "part", "task", "why", "by", "asked", "state",
                  "reason", "decided by", "decided", "regrade", "score when asked", "score now"}};
  for (const StudentOutcome& student : results.students) {
    for (const RegradeRequest& request : student.requests) {
      table.push_back(row_of(student, request));
    }
  }
  return to_csv(table);
}

}  // namespace rooflab
