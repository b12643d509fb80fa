#pragma once

#include "grader/pipeline/judge.h"
#include "grader/spec/revealed.h"

namespace rooflab {

/// A run of a hidden case that failed, told as if the case were public.
/// @param verdict of the run
RevealedCase reveal_case(const JudgedRun& run, Verdict verdict);

}  // namespace rooflab
