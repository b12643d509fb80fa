#include "grader/batch/outputs/class_statistics.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "grader/batch/outputs/class_words.h"

namespace rooflab {
namespace {

bool was_timed(const TaskLine& task) {
  return task.verdict == Verdict::pass && task.time_us && *task.time_us > 0;
}

/// The graded parts of the class with a number. Who is not on the roster is not of the class.
std::vector<std::pair<const StudentOutcome*, const PartOutcome*>> graded(
    const ClassResults& results, int part) {
  std::vector<std::pair<const StudentOutcome*, const PartOutcome*>> all;
  for (const StudentOutcome* student : members_of(results)) {
    const PartOutcome* outcome = outcome_of(*student, part);
    if (outcome != nullptr && outcome->state == PartState::graded)
      all.emplace_back(student, outcome);
  }
  return all;
}

void add_task(TaskStatistics& statistics, const std::string& student, const TaskLine& task) {
  ++statistics.graded;
  statistics.max_score = std::max(statistics.max_score, task.max_score);
  statistics.mean_score += task.score;  // a sum until all are there
  if (task.verdict == Verdict::pass) ++statistics.passed;
  if (!was_timed(task)) return;
  statistics.efficiencies.push_back(task.efficiency);
  if (task.efficiency > statistics.best_efficiency) {
    statistics.best_efficiency = task.efficiency;
    statistics.best = student;
  }
}

/// The word that was counted most, and how often; the first of several in the alphabet.
std::pair<std::string, std::size_t> commonest(const std::map<std::string, std::size_t>& counts) {
  std::pair<std::string, std::size_t> most;
  for (const auto& [word, count] : counts) {
    if (count > most.second) most = {word, count};
  }
  return most;
}

std::vector<TaskStatistics> task_statistics(const ClassResults& results, int part) {
  std::vector<TaskStatistics> all;
  std::map<std::string, std::map<std::string, std::size_t>> codes;  // task -> code -> students
  std::map<std::string, std::map<std::string, std::size_t>> lost;   // task -> group -> students
  for (const auto& [student, outcome] : graded(results, part)) {
    for (const TaskLine& task : outcome->tasks) {
      auto place = std::find_if(all.begin(), all.end(),
                                [&](const TaskStatistics& one) { return one.id == task.id; });
      if (place == all.end()) {
        place = all.insert(place, TaskStatistics());
        place->id = task.id;
        place->title = task.title;
        place->bonus = task.bonus;
      }
      add_task(*place, student->student.key, task);
      for (const std::string& code : std::set(task.codes.begin(), task.codes.end())) {
        ++codes[task.id][code];
      }
      for (const std::string& group : task.lost_groups) ++lost[task.id][group];
    }
  }
  for (TaskStatistics& task : all) {
    task.mean_score /= static_cast<double>(task.graded);
    std::tie(task.commonest_code, task.commonest_count) = commonest(codes[task.id]);
    std::tie(task.hardest_group, task.hardest_count) = commonest(lost[task.id]);
  }
  return all;
}

}  // namespace

Quartiles quartiles_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double fraction) {
    const double place = fraction * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
  };
  double sum = 0;
  for (const double value : values) sum += value;
  return {values.front(), at(0.25),      at(0.5),
          at(0.75),       values.back(), sum / static_cast<double>(values.size())};
}

PartStatistics statistics_of(const ClassResults& results, const PartSummary& summary) {
  PartStatistics statistics;
  statistics.tenths.assign(10, 0);
  for (const StudentOutcome& student : results.students) {
    const PartOutcome* outcome = outcome_of(student, summary.number);
    if (outcome == nullptr) continue;
    if (is_stranger(results, student)) {
      statistics.strangers += outcome->state != PartState::not_submitted;
      continue;
    }
    ++statistics.states[outcome->state];
    if (!outcome->lateness.empty()) ++statistics.late;
    statistics.pending += outcome->pending.size();
  }
  for (const auto& [student, outcome] : graded(results, summary.number)) {
    const double total = outcome->total(), most = max_total(summary, *outcome);
    statistics.totals.push_back(total);
    const double share = most > 0 ? total / most : 1;
    if (share > 1 + 1e-9) {
      ++statistics.above;
    } else {
      // Rounding must not put 30 of 100 below 30 %.
      const auto tenth = static_cast<std::size_t>(std::max(0.0, 10 * share + 1e-9));
      ++statistics.tenths[std::min<std::size_t>(9, tenth)];
    }
  }
  statistics.tasks = task_statistics(results, summary.number);
  return statistics;
}

std::vector<CodeStatistics> code_statistics(const ClassResults& results) {
  std::map<std::string, CodeStatistics> by_code;
  for (const StudentOutcome* student : members_of(results)) {
    std::set<std::string> of_student;
    for (const PartOutcome& outcome : student->parts) {
      if (outcome.state != PartState::graded) continue;
      for (const TaskLine& task : outcome.tasks) {
        for (const std::string& code : task.codes) {
          of_student.insert(code);
          by_code[code].tasks[outcome.part].insert(task.id);
        }
      }
    }
    for (const std::string& code : of_student) ++by_code[code].students;
  }
  std::vector<CodeStatistics> all;
  for (auto& [code, statistics] : by_code) {
    statistics.code = code;
    all.push_back(std::move(statistics));
  }
  std::stable_sort(all.begin(), all.end(), [](const CodeStatistics& a, const CodeStatistics& b) {
    return a.students > b.students;
  });
  return all;
}

ClassCounts count_class(const ClassResults& results) {
  ClassCounts counts;
  const auto any = [](const StudentOutcome& student, auto holds) {
    return std::any_of(student.parts.begin(), student.parts.end(), holds);
  };
  for (const StudentOutcome& student : results.students) {
    if (is_stranger(results, student)) {
      ++counts.strangers;
      counts.pending_of_strangers += count_pending(student);
      continue;
    }
    ++counts.students;
    ++(student.submission.empty() ? counts.missing : counts.submitted);
    counts.late += any(student, [](const PartOutcome& one) { return !one.lateness.empty(); });
    counts.unreadable +=
        any(student, [](const PartOutcome& one) { return one.state == PartState::unreadable; });
    counts.faults +=
        any(student, [](const PartOutcome& one) { return one.state == PartState::fault; });
    counts.ungraded +=
        any(student, [](const PartOutcome& one) { return one.state == PartState::ungraded; });
    counts.pending += count_pending(student);
  }
  return counts;
}

std::size_t count_timed_tasks(const ClassResults& results) {
  std::set<std::pair<int, std::string>> timed;
  for (const StudentOutcome* student : members_of(results)) {
    for (const PartOutcome& outcome : student->parts) {
      if (outcome.state != PartState::graded) continue;
      for (const TaskLine& task : outcome.tasks) {
        if (was_timed(task)) timed.emplace(outcome.part, task.id);
      }
    }
  }
  return timed.size();
}

Standing standing_of(const StudentOutcome& student, std::size_t timed_tasks) {
  Standing standing;
  double efficiencies = 0;
  for (const PartOutcome& outcome : student.parts) {
    if (outcome.state != PartState::graded) continue;
    standing.points += outcome.score + outcome.bonus;
    for (const TaskLine& task : outcome.tasks) {
      if (was_timed(task)) efficiencies += task.efficiency;
    }
  }
  if (timed_tasks > 0) standing.efficiency = efficiencies / static_cast<double>(timed_tasks);
  return standing;
}

}  // namespace rooflab
