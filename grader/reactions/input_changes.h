#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/contract/oracle.h"
#include "grader/diagnose/axes.h"

/// What if a function took its inputs for others? Each change is a slip that many functions invite,
/// whatever they compute: an operand left out, two exchanged, one read along the wrong axis. The
/// oracle computes what comes of it, so that no task needs code for it.
namespace rooflab {

/// Another problem than the one that was posed, which a wrong function may have solved.
struct InputChange {
  std::string cause;  ///< a clause: "gate and up are in each other's place"
  std::string help;
  std::function<void(Problem&)> apply;
};

/// The changes that a problem allows, simplest first.
/// @param axes by tensor: names of its axes, which sentences use; may lack some
std::vector<InputChange> input_changes(const Problem& problem, const AxisNames& axes);

/// Of parameters that no tensor's size depends on.
/// @param oracle says which these are
std::vector<InputChange> parameter_changes(const Problem& problem, const Oracle& oracle);

}  // namespace rooflab
