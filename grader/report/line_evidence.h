#pragma once

#include <nlohmann/json.hpp>

#include "grader/spec/line_cost.h"

namespace rooflab {

/// What evidence keeps of the lines of a timed call: those that take most of the time, at most
/// kMostKeptLines of them, each with its counters and its own text. Instructions, pictures, calls
/// and the rest of the source would be most of a class's database. null where there is none.
void to_json(nlohmann::json& j, const SourceCosts& costs);
/// Reads the same; null, and evidence that has no lines yet, are none.
void from_json(const nlohmann::json& j, SourceCosts& costs);

inline constexpr std::size_t kMostKeptLines = 12;

}  // namespace rooflab
