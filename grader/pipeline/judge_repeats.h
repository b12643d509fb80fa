#pragma once

#include <optional>

#include "grader/pipeline/judge.h"

namespace rooflab {

/// The verdict of the further calls of a timed run whose last one is right: one drawn among them,
/// and those with inputs drawn anew. Nothing when they are right too, or when there were none.
/// @throws OracleFault when the oracle contradicts its own problem.
std::optional<Judgement> judge_repeats(const JudgedRun& run);

}  // namespace rooflab
