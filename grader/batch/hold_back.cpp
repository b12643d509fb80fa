#include "grader/batch/hold_back.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "grader/pipeline/score.h"
#include "grader/report/evidence.h"
#include "grader/report/text.h"
#include "grader/spec/similar_name.h"
#include "grader/spec/tested.h"

namespace rooflab {
namespace {

const TaskSpec* spec_of(const PartSpec& part, const std::string& task) {
  const auto spec = std::ranges::find(part.tasks, task, &TaskSpec::id);
  return spec == part.tasks.end() ? nullptr : &*spec;
}

bool needs_any(const SpeedSpec& speed, const std::set<std::string>& groups) {
  return std::ranges::any_of(speed.groups,
                             [&](const std::string& group) { return groups.contains(group); });
}

/// Timed cases whose points need a group that is held back: that they have points would tell that
/// the group passes.
std::set<std::string> timed_by(const TaskSpec& spec, const std::set<std::string>& groups) {
  std::set<std::string> names;
  for (const SpeedSpec& speed : spec.speeds) {
    if (needs_any(speed, groups)) names.insert(speed.name);
  }
  return names;
}

/// Whether the story is about nothing else than these groups.
bool is_of_groups(const Diagnostic& story, const std::set<std::string>& groups) {
  return !story.groups.empty() && std::ranges::all_of(story.groups, [&](const std::string& group) {
    return groups.contains(group);
  });
}

void drop_groups(TaskResult& task, const std::set<std::string>& held) {
  task.verdict = Verdict::pass;
  for (const GroupResult& group : task.groups) {
    if (held.contains(group.name)) {
      task.score -= group.score;
      task.max_score -= group.max_score;
    } else if (is_worse(group.verdict, task.verdict)) {
      task.verdict = group.verdict;
    }
  }
  std::erase_if(task.groups, [&](const GroupResult& group) { return held.contains(group.name); });
  std::erase_if(task.cases, [&](const CaseResult& one) { return held.contains(one.group); });
  std::erase_if(task.diagnostics,
                [&](const Diagnostic& story) { return is_of_groups(story, held); });
  for (Diagnostic& story : task.diagnostics) {
    std::erase_if(story.groups, [&](const std::string& group) { return held.contains(group); });
  }
  // Of students' tests, the table shows what every group refuses.
  task.tests.reset();
  if (held.contains(kRightGroup)) {
    std::erase_if(task.diagnostics, [](const Diagnostic& story) { return story.code == "RL0617"; });
  }
  task.printed.clear();  // nobody knows in which case
}

void drop_timings(TaskResult& task, const std::set<std::string>& held) {
  const auto is_held = [&](const Timing& timing) { return held.contains(timing.name); };
  if (!task.timings.empty() && is_held(task.timings.front())) task.counters.clear();
  for (const Timing& timing : task.timings) {
    if (!is_held(timing)) continue;
    task.score -= timing.points + timing.launches.points + timing.dram_bytes.points;
    task.max_score -= timing.max_points + timing.launches.max_points + timing.dram_bytes.max_points;
  }
  std::erase_if(task.timings, is_held);
}

/// The points, bonus aside, that these tests are worth in the part.
double points_of_held(const std::vector<HeldTest>& held, const PartSpec& part) {
  double points = 0;
  for (const TaskSpec& task : part.tasks) {
    const HeldOfTask own = held_of(held, part, task.id);
    if (task.bonus || !own.any()) continue;
    if (own.is_whole) {
      points += maximum_points(task);
      continue;
    }
    for (const GroupSpec& group : task.groups) {
      if (own.groups.contains(group.name)) points += group.points;
    }
    for (const SpeedSpec& speed : task.speeds) {
      if (own.timings.contains(speed.name)) points += maximum_points(speed);
    }
  }
  return points;
}

void hold_back(PartOutcome& outcome, const std::vector<HeldTest>& held, const PartSpec& part,
               Store& store) {
  outcome.previous_total.reset();  // they are in it
  const bool is_graded = outcome.state == PartState::graded;
  if (outcome.tasks_unread) {
    if (is_graded) outcome.state = PartState::ungraded;
    return;
  }
  const GradeResult result =
      without_held(from_evidence(store.evidence(outcome.grading)), held, part);
  if (is_graded) {
    outcome.score = result.score();
    outcome.bonus = result.bonus();
    outcome.max_score = result.max_score();
  }
  std::vector<TaskLine> lines = task_lines(result);
  for (TaskLine& line : lines) {  // what was noticed in the class stands in the old lines alone
    const auto before = std::ranges::find(outcome.tasks, line.id, &TaskLine::id);
    if (before != outcome.tasks.end()) line.for_people = before->for_people;
  }
  outcome.tasks = std::move(lines);
}

}  // namespace

std::vector<HeldTest> held_at(const LatePolicy& policy, std::int64_t now) {
  std::vector<HeldTest> held;
  std::ranges::copy_if(policy.held_tests(), std::back_inserter(held), [&](const HeldTest& test) {
    return now <= policy.last_due_of(test.part).value_or(now);
  });
  return held;
}

bool HeldOfTask::hides(const Diagnostic& story) const {
  return is_whole || is_of_groups(story, groups);
}

HeldOfTask held_of(const std::vector<HeldTest>& held, const PartSpec& part,
                   const std::string& task) {
  HeldOfTask all;
  for (const HeldTest& test : held) {
    if (test.part != part.number || test.task != task) continue;
    all.is_whole = all.is_whole || test.groups.empty();
    all.groups.insert(test.groups.begin(), test.groups.end());
  }
  if (const TaskSpec* spec = spec_of(part, task)) all.timings = timed_by(*spec, all.groups);
  return all;
}

void require_known(const std::vector<HeldTest>& held, const Course& course) {
  const auto require = [](const HeldTest& test, const std::string& what, const std::string& name,
                          const std::set<std::string>& known) {
    if (known.contains(name)) return;
    const auto closest = closest_names(name, {known.begin(), known.end()});
    throw SpecError(fmt::format(
        "{}: [[after_due]]: part {} has no {} `{}`; {}there are {}", test.place, test.part, what,
        name, closest.empty() ? "" : fmt::format("did you mean `{}`? ", closest.front()),
        fmt::join(known, ", ")));
  };
  for (const HeldTest& test : held) {
    const auto part = std::ranges::find(course.parts, test.part, &PartSpec::number);
    if (part == course.parts.end()) continue;  // another batch may grade it
    std::set<std::string> tasks, groups;
    for (const TaskSpec& task : part->tasks) tasks.insert(task.id);
    require(test, "task", test.task, tasks);
    for (const GroupSpec& group : spec_of(*part, test.task)->groups) groups.insert(group.name);
    for (const std::string& group : test.groups) require(test, "group of cases", group, groups);
  }
}

GradeResult without_held(GradeResult result, const std::vector<HeldTest>& held,
                         const PartSpec& part) {
  std::vector<TaskResult> kept;
  for (TaskResult& task : result.tasks) {
    const HeldOfTask own = held_of(held, part, task.id);
    const TaskSpec* spec = spec_of(part, task.id);
    if (own.any() && !own.is_whole && spec != nullptr && !task.groups.empty()) {
      drop_timings(task, own.timings);
      drop_groups(task, own.groups);
      task.score = std::clamp(rounded_points(task.score), 0.0, task.max_score);
      if (!task.groups.empty()) kept.push_back(std::move(task));
    } else if (!own.any()) {
      kept.push_back(std::move(task));
    }
  }
  result.tasks = std::move(kept);
  return result;
}

void hold_back(ClassResults& results, const std::vector<HeldTest>& held, const LatePolicy& policy,
               Store& store, const Course& course) {
  for (const PartSpec& part : course.parts) {
    if (std::ranges::find(held, part.number, &HeldTest::part) == held.end()) continue;
    const auto summary = std::ranges::find(results.parts, part.number, &PartSummary::number);
    summary->held_back = points_of_held(held, part);
    summary->held_until = utc_time(*policy.last_due_of(part.number));
    summary->max_score = std::max(0.0, summary->max_score - summary->held_back);
    for (StudentOutcome& student : results.students) {
      for (PartOutcome& outcome : student.parts) {
        if (outcome.part != part.number || outcome.grading.empty()) continue;
        hold_back(outcome, held, part, store);
      }
    }
  }
}

}  // namespace rooflab
