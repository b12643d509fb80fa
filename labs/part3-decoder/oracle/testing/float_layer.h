#pragma once

#include <map>
#include <string>
#include <vector>

#include "grader/contract/problem.h"

namespace rooflab::testing {

/// A decoder layer as a student's code computes it: in float, each tensor between two operations
/// rounded to the case's storage type, keys and values in a ring. Holds the oracle's tolerances to
/// what a right implementation does. @returns the contents of all in_out tensors
std::map<std::string, std::vector<double>> run_float_layer(const Problem& problem);

}  // namespace rooflab::testing
