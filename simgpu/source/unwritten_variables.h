#pragma once

#include <vector>

#include "simgpu/source/early_returns.h"

namespace simgpu {

/// Names the variables of findings about registers that nothing has written (RL0211): a variable of
/// the finding's statement that is declared without a value before it. Where the statement has
/// none, those count from which its function was called. Findings that no declaration explains stay
/// as they are.
void name_unwritten_variables(std::vector<Finding>& findings, const SourceText& text);

}  // namespace simgpu
