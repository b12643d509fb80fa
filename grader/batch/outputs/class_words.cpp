#include "grader/batch/outputs/class_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "grader/report/text.h"

namespace rooflab {

const PartSummary& summary_of(const ClassResults& results, int part) {
  for (const PartSummary& summary : results.parts) {
    if (summary.number == part) return summary;
  }
  throw std::invalid_argument(fmt::format("there is no summary of part {}", part));
}

const PartOutcome* outcome_of(const StudentOutcome& student, int part) {
  for (const PartOutcome& outcome : student.parts) {
    if (outcome.part == part) return &outcome;
  }
  return nullptr;
}

double max_total(const PartSummary& summary) { return summary.max_score + summary.max_manual; }

std::string display_name(const Student& student) {
  const std::string name = one_line(student.name);
  return name.find_first_not_of(' ') == std::string::npos ? one_line(student.key) : name;
}

double two_decimals(double points) {
  const double rounded = std::round(points * 100) / 100;
  return rounded == 0 ? 0 : rounded;  // never -0
}

std::string gradebook_points(double points) {
  std::string text = fmt::format("{:.2f}", two_decimals(points));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string gradebook_total(const PartOutcome* outcome) {
  if (outcome == nullptr || outcome->state == PartState::fault) return {};
  return gradebook_points(outcome->total());
}

std::optional<double> total_of(const StudentOutcome& student) {
  double total = 0;
  for (const PartOutcome& outcome : student.parts) {
    if (outcome.state == PartState::fault) return std::nullopt;
    total += outcome.total();
  }
  return total;
}

double max_total(const ClassResults& results) {
  double total = 0;
  for (const PartSummary& summary : results.parts) total += max_total(summary);
  return total;
}

std::string part_sentence(const PartSummary& summary, const PartOutcome& outcome) {
  std::string words;
  switch (outcome.state) {
    case PartState::fault:
      return kFaultAdvice;
    case PartState::not_submitted:
      words = "nothing was handed in";
      break;
    case PartState::unreadable:
      words = "the submission could not be read: " + one_line(outcome.why);
      break;
    case PartState::graded:
      words = fmt::format("{} of {} points by the grader", format_points(outcome.score),
                          format_points(summary.max_score));
      break;
  }
  if (outcome.bonus > 0) words += fmt::format(", {} bonus", format_points(outcome.bonus));
  if (!outcome.lateness.empty()) words += ", " + one_line(outcome.lateness);
  if (outcome.manual != 0) words += fmt::format(", {} by hand", format_points(outcome.manual));
  return words + fmt::format("; in all {} of {}", format_points(outcome.total()),
                             format_points(max_total(summary)));
}

std::vector<std::string> problems_beside(const StudentOutcome& student,
                                         const std::set<PartState>& states) {
  std::vector<std::string> beside;
  for (const std::string& problem : student.problems) {
    const bool is_reason =
        std::any_of(student.parts.begin(), student.parts.end(), [&](const PartOutcome& outcome) {
          return states.contains(outcome.state) && !outcome.why.empty() &&
                 problem.find(outcome.why) != std::string::npos;
        });
    if (!is_reason) beside.push_back(problem);
  }
  return beside;
}

std::vector<ManualPoints> manual_points_of(const StudentOutcome& student, int part) {
  std::vector<ManualPoints> points;
  std::copy_if(student.manual.begin(), student.manual.end(), std::back_inserter(points),
               [&](const ManualPoints& one) { return one.part == part; });
  return points;
}

}  // namespace rooflab
