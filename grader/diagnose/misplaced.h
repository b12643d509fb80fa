#pragma once

#include "grader/diagnose/relation.h"

namespace rooflab {

/// Right values in wrong places: axes in another order, rows that are moved on, repeated or dealt
/// differently, or columns that are.
std::optional<Relation> misplaced_values(const TensorCheck& check, const DiagnoseContext& context);

}  // namespace rooflab
