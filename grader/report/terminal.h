#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "grader/spec/result.h"

namespace rooflab {

/// What to show and how.
struct TerminalStyle {
  bool colour = false;       ///< only on a terminal
  std::string html = {};     ///< path of the written report, named in the last line; empty for none
  bool all_timings = false;  ///< of tasks with several timed cases, not only the first
  bool printed = false;      ///< the last lines that the student's code printed
  int single_case = 0;       ///< only this public case was run, which earns nothing; 0: all were
  bool single_task = false;  ///< the total is that of a task, not of the part
  /// "Part 1 so far: 59 of 100", behind the total of a single task; empty: not known.
  std::string part_so_far = {};
  /// Tasks that have a line, of those in the totals; empty: all.
  std::vector<std::string> lines_of = {};
};

/// The whole report of a grade: the stories of each task, then the summary.
void print_report(std::ostream& out, const GradeResult& result, const TerminalStyle& style);

/// The story of a task's first failure with its further ones in brief; nothing for a stub or a
/// clean pass. Can be told as soon as the task is graded.
void print_stories(std::ostream& out, const TaskResult& task, bool colour);

/// One line a task, and the totals.
void print_summary(std::ostream& out, const GradeResult& result, const TerminalStyle& style);

/// One failure as a story: cause, place, evidence, pattern, notes, next step.
void print_story(std::ostream& out, const Diagnostic& diagnostic, bool colour);

}  // namespace rooflab
