#pragma once

#include <optional>
#include <string>

#include "grader/spec/result.h"

namespace rooflab {

/// What differs between two runs of a task; nothing when that is nothing worth a word. Modelled
/// times are exact; of measured ones only what lies beyond their noise counts.
std::optional<SinceLastRun> compare_runs(const TaskResult& before, const TaskResult& now,
                                         bool measured);

/// "race -> pass · 0 -> 15 points · 9.81 ms -> 1.02 ms (9.6x faster) · bank conflicts 31 % -> 0 %"
/// @param counters how many of the counters, at most
std::string words_of(const SinceLastRun& since, const TaskResult& now, std::size_t counters);

}  // namespace rooflab
