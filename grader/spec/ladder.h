#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rooflab {

/// A large piece of work in steps, each a task of the part that stands by itself, the last one the
/// work itself.
struct Ladder {
  std::string id;
  std::string title;
  std::vector<std::string> steps;  ///< ids of tasks, in the order of the part
};

struct TaskResult;

/// How far results go up a ladder.
struct LadderState {
  std::size_t graded = 0;  ///< steps that there are results of
  std::size_t done = 0;    ///< steps that pass
  std::string next;        ///< the first graded step that does not pass; empty: all do
};
LadderState state_of(const Ladder& ladder, const std::vector<TaskResult>& tasks);

/// "Flash attention, step by step: 2 of 6 steps done, next flash_online".
std::string progress_words(const Ladder& ladder, const LadderState& state);

/// From 1; 0: the task is no step of the ladder.
std::size_t step_number(const Ladder& ladder, const std::string& task);

/// Of results of all steps progress_words(), of fewer which steps they are; empty where none of
/// them is one.
std::string ladder_words(const Ladder& ladder, const std::vector<TaskResult>& tasks);

}  // namespace rooflab
