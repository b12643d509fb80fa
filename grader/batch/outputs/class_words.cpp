#include "grader/batch/outputs/class_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
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

std::vector<const StudentOutcome*> members_of(const ClassResults& results) {
  std::vector<const StudentOutcome*> members;
  for (const StudentOutcome& student : results.students) {
    if (!is_stranger(results, student)) members.push_back(&student);
  }
  return members;
}

bool is_stranger(const ClassResults& results, const StudentOutcome& student) {
  // Students of the roster stand first.
  const bool has_roster = !results.students.empty() && results.students.front().student.on_roster;
  return has_roster && !student.student.on_roster;
}

double max_total(const PartSummary& summary) { return summary.max_score + summary.max_manual; }

double max_score_of(const PartSummary& summary, const PartOutcome& outcome) {
  return outcome.max_score.value_or(summary.max_score);
}

double max_manual_of(const PartSummary& summary, const PartOutcome& outcome) {
  return outcome.max_manual.value_or(summary.max_manual);
}

double max_total(const PartSummary& summary, const PartOutcome& outcome) {
  return max_score_of(summary, outcome) + max_manual_of(summary, outcome);
}

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

Missing missing_in(const PartOutcome& outcome) {
  switch (outcome.state) {
    case PartState::fault:
      return Missing::fault;
    case PartState::ungraded:
      return Missing::grading;
    case PartState::graded:
      return outcome.pending.empty() ? Missing::nothing : Missing::points;
    case PartState::undecided:
      return Missing::choice;
    case PartState::not_submitted:
    case PartState::unreadable:
      return Missing::nothing;
  }
  return Missing::fault;
}

Missing missing_in(const StudentOutcome& student) {
  Missing gravest = Missing::nothing;
  for (const PartOutcome& outcome : student.parts) {
    gravest = std::max(gravest, missing_in(outcome));
  }
  return gravest;
}

std::string state_name(const PartOutcome& outcome) {
  return missing_in(outcome) == Missing::points ? "pending" : name_of(outcome.state);
}

std::string waiting_words(std::size_t answers, std::size_t of_strangers) {
  return fmt::format(
      "{} {} for a person{}", answers, answers == 1 ? "answer waits" : "answers wait",
      of_strangers > 0 ? fmt::format(", and {} of nobody on the roster", of_strangers) : "");
}

std::size_t count_pending(const StudentOutcome& student) {
  std::size_t count = 0;
  for (const PartOutcome& outcome : student.parts) count += outcome.pending.size();
  return count;
}

std::string gradebook_total(const PartOutcome* outcome) {
  const auto total = outcome == nullptr ? std::nullopt : total_of(*outcome);
  return total ? gradebook_points(*total) : "";
}

std::optional<double> total_of(const PartOutcome& outcome) {
  if (missing_in(outcome) != Missing::nothing) return std::nullopt;
  return outcome.total();
}

std::optional<double> total_of(const StudentOutcome& student) {
  if (missing_in(student) != Missing::nothing) return std::nullopt;
  double total = 0;
  for (const PartOutcome& outcome : student.parts) total += outcome.total();
  return total;
}

double max_total(const ClassResults& results) {
  double total = 0;
  for (const PartSummary& summary : results.parts) total += max_total(summary);
  return total;
}

double max_total(const ClassResults& results, const StudentOutcome& student) {
  double total = 0;
  for (const PartSummary& summary : results.parts) {
    const PartOutcome* outcome = outcome_of(student, summary.number);
    total += outcome == nullptr ? max_total(summary) : max_total(summary, *outcome);
  }
  return total;
}

namespace {

/// "; 2 answers wait for a person, who gives up to 5 points, so the total is not final"
std::string pending_clause(const PartOutcome& outcome) {
  double most = 0;
  for (const PendingAnswer& answer : outcome.pending) most += answer.max_points;
  return fmt::format("; {}, who gives up to {} points, so the total is not final",
                     waiting_words(outcome.pending.size()), format_points(most));
}

}  // namespace

std::string held_back_words(const PartSummary& summary) {
  if (summary.held_until.empty()) return {};
  return fmt::format("tests worth {} more points show and count after {}",
                     format_points(summary.held_back), summary.held_until);
}

std::string regraded_words(const PartOutcome& outcome) {
  if (!outcome.previous_total || missing_in(outcome) != Missing::nothing) return {};
  const std::string other = format_points(*outcome.previous_total);
  return outcome.earlier_counts ? fmt::format("regraded to {}, but the earlier grade counts", other)
                                : fmt::format("regraded, was {}", other);
}

std::string checkout_words(const PartOutcome& outcome) {
  return outcome.checkout.empty() ? "" : "graded with commit " + one_line(outcome.checkout);
}

std::vector<std::string> checkouts_of(const ClassResults& results) {
  std::set<std::string> checkouts;
  for (const StudentOutcome& student : results.students) {
    for (const PartOutcome& outcome : student.parts) {
      if (!outcome.checkout.empty()) checkouts.insert(one_line(outcome.checkout));
    }
  }
  return {checkouts.begin(), checkouts.end()};
}

std::optional<double> score_of(const PartOutcome& outcome) {
  if (outcome.state != PartState::graded) return std::nullopt;
  return outcome.score + outcome.bonus;
}

std::string part_sentence(const PartSummary& summary, const PartOutcome& outcome) {
  std::string words;
  switch (outcome.state) {
    case PartState::fault:
      return kFaultAdvice;
    case PartState::ungraded:
      return kNotYetAdvice;
    case PartState::undecided:
      return kChoiceAdvice;
    case PartState::not_submitted:
      words = "nothing was handed in";
      break;
    case PartState::unreadable:
      words = "the submission could not be read: " + one_line(outcome.why);
      break;
    case PartState::graded:
      words = fmt::format("{} of {} points by the grader", format_points(outcome.score),
                          format_points(max_score_of(summary, outcome)));
      break;
  }
  if (outcome.bonus > 0) words += fmt::format(", {} bonus", format_points(outcome.bonus));
  if (!outcome.lateness.empty()) words += ", " + one_line(outcome.lateness);
  if (outcome.manual != 0) words += fmt::format(", {} by hand", format_points(outcome.manual));
  words += missing_in(outcome) == Missing::points
               ? pending_clause(outcome)
               : fmt::format("; in all {} of {}", format_points(outcome.total()),
                             format_points(max_total(summary, outcome)));
  const std::string regraded =
      missing_in(outcome) == Missing::points ? "" : regraded_words(outcome);
  for (const std::string& more : {regraded, held_back_words(summary)}) {
    if (!more.empty()) words += "; " + more;
  }
  return words;
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
