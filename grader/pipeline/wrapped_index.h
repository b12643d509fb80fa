#pragma once

#include <optional>

#include "grader/contract/problem.h"
#include "grader/device/device.h"
#include "grader/diagnose/diagnose.h"

namespace rooflab {

/// Of a call of a vast problem (Problem::vast): the first output of which a large part is certainly
/// never written. Nothing where that cannot be said, as of several launches, or of blocks that tell
/// each other what to do.
std::optional<WrappedIndex> wrapped_index(const Problem& problem, const RunOutcome& outcome);

/// Whether a vast problem has a tensor of more elements than an int counts. Otherwise it is as
/// large as its header allows.
bool counts_beyond_int(const Problem& problem);

/// Of a call of a vast problem that an access out of bounds ended: whose it was.
std::optional<LostBlock> lost_block(const Problem& problem, const RunOutcome& outcome);

}  // namespace rooflab
