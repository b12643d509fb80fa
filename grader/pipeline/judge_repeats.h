#pragma once

#include <functional>
#include <optional>

#include "grader/pipeline/judge.h"

namespace rooflab {

/// The verdict of the further calls of a timed run whose last one is right: one drawn among them,
/// and those with inputs drawn anew. Nothing when they are right too, or when there were none.
/// @throws OracleFault when the oracle contradicts its own problem.
std::optional<Judgement> judge_repeats(const JudgedRun& run);

/// The verdict of the calls behind a first one in one process (RunRequest::further), where alone
/// each of them would be right. Nothing when they are right there, too, and where the first one
/// failed.
/// @param run whose problem is what the first call got
/// @param fresh what the others got, the second one the index 0
/// @param is_right_alone whether that call would be right in a process of its own
/// @throws OracleFault when the oracle contradicts its own problem.
std::optional<Judgement> judge_further_calls(const JudgedRun& run,
                                             const std::function<Problem(int index)>& fresh,
                                             const std::function<bool(int index)>& is_right_alone);

}  // namespace rooflab
