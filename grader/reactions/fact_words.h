#pragma once

#include "grader/reactions/cause_search.h"
#include "grader/reactions/facts.h"

namespace rooflab {

/// A fact as a sentence.
FoundCause words_of(const ReactionFact& fact, const Problem& problem, const AxisNames& axes);

/// Adds the load that the fact is about, as far as the origin of its element has it. What has no
/// effect although it is read is told so.
void add_load(const ReactionFact& fact, const Problem& problem, const AxisNames& axes,
              const ElementOrigin& origin, FoundCause& cause);

}  // namespace rooflab
