#include "grader/spec/ladder.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/spec/result.h"

namespace rooflab {

std::size_t step_number(const Ladder& ladder, const std::string& task) {
  const auto step = std::ranges::find(ladder.steps, task);
  return step == ladder.steps.end() ? 0 : static_cast<std::size_t>(step - ladder.steps.begin()) + 1;
}

LadderState state_of(const Ladder& ladder, const std::vector<TaskResult>& tasks) {
  LadderState state;
  for (const std::string& step : ladder.steps) {
    const auto result = std::ranges::find(tasks, step, &TaskResult::id);
    if (result == tasks.end()) continue;
    ++state.graded;
    const bool passes = result->verdict == Verdict::pass;
    state.done += passes ? 1 : 0;
    if (!passes && state.next.empty()) state.next = step;
  }
  return state;
}

std::string progress_words(const Ladder& ladder, const LadderState& state) {
  return fmt::format("{}: {} of {} steps done{}", ladder.title, state.done, ladder.steps.size(),
                     state.next.empty() ? "" : ", next " + state.next);
}

std::string ladder_words(const Ladder& ladder, const std::vector<TaskResult>& tasks) {
  const LadderState state = state_of(ladder, tasks);
  const std::size_t steps = ladder.steps.size();
  if (state.graded == steps) return progress_words(ladder, state);
  std::string words;
  for (const std::string& step : ladder.steps) {
    if (std::ranges::find(tasks, step, &TaskResult::id) == tasks.end()) continue;
    words += fmt::format("{}{} is step {} of {}", words.empty() ? "" : ", ", step,
                         step_number(ladder, step), steps);
  }
  return words.empty() ? words : fmt::format("{}: {}", ladder.title, words);
}

}  // namespace rooflab
