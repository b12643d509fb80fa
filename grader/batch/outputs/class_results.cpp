#include "grader/batch/outputs/class_results.h"

namespace rooflab {

const char* name_of(PartState state) {
  switch (state) {
    case PartState::graded:
      return "graded";
    case PartState::not_submitted:
      return "not-submitted";
    case PartState::undecided:
      return "two-submissions";
    case PartState::unreadable:
      return "unreadable";
    case PartState::ungraded:
      return "not-graded-yet";
    case PartState::fault:
      return "fault";
  }
  return "fault";
}

namespace {

TaskLine line_of(const TaskResult& task) {
  TaskLine line;
  line.id = task.id;
  line.title = task.title;
  line.bonus = task.bonus;
  line.verdict = task.verdict;
  line.score = task.score;
  line.max_score = task.max_score;
  line.for_people = task.for_people;
  for (const Diagnostic& story : task.diagnostics) line.codes.push_back(story.code.text());
  for (const GroupResult& group : task.groups) {
    if (group.score < group.max_score) line.lost_groups.push_back(group.name);
  }
  if (task.timings.empty()) return line;
  const Timing& timing = task.timings.front();
  line.time_us = timing.time_us;
  line.efficiency = timing.efficiency;
  line.roofline_us = timing.roofline_us;
  line.flops = timing.flops;
  line.bytes = timing.bytes;
  line.peak = timing.peak;
  return line;
}

}  // namespace

std::vector<TaskLine> task_lines(const GradeResult& result) {
  std::vector<TaskLine> lines;
  lines.reserve(result.tasks.size());
  for (const TaskResult& task : result.tasks) lines.push_back(line_of(task));
  return lines;
}

}  // namespace rooflab
