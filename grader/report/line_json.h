#pragma once

#include <nlohmann/json.hpp>

#include "grader/spec/line_cost.h"

namespace rooflab {

/// Adds `lines`, or why there are none as `lines_missing`.
void add_lines(const SourceCosts& costs, nlohmann::ordered_json& timing);

}  // namespace rooflab
