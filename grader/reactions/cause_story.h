#pragma once

#include "grader/reactions/cause_search.h"

namespace rooflab {

/// The story of a wrong output whose cause was found. What was told before, how the values look,
/// becomes its evidence.
/// @param of_case parameters of the case that failed
Diagnostic story_of_cause(const FoundCause& cause, const Values& of_case, const Diagnostic& before,
                          const DiagnoseContext& context);

/// Adds to a story that a problem with these parameters fails like its case.
void add_smaller_problem(Diagnostic& story, const Values& parameters);

}  // namespace rooflab
