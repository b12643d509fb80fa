#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grader/author/verify/claim.h"

namespace rooflab::verify {

struct RunnerOptions {
  unsigned jobs = 0;      ///< commands at a time; 0: one per CPU
  double limit_s = 3600;  ///< of one command, wall
};

/// Runs the checks, heavy ones first, each command in a process of its own and a folder of its own
/// that vanishes. One that fails by a time limit is run once more, alone. A command that dies, or
/// an exception of a check, is that check's outcome.
/// @param progress told what goes on, from the thread that calls
/// @return outcomes in the order of the checks
/// @throws ExecutorError when no process can be started
std::vector<Outcome> run_checks(const std::vector<Check>& checks, const RunnerOptions& options,
                                const std::function<void(const std::string&)>& progress);

}  // namespace rooflab::verify
