#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "labs/oracle_support/tensors.h"

/// The inputs of Part 0's problems, and outputs that follow from them.
namespace rooflab {

/// An input of eighths between -125 and 125, none of them 0. fp32 adds many of them exactly, in any
/// order, so that a sum which leaves out a single one is seen.
Tensor eighths(const std::string& name, std::vector<std::int64_t> shape, Random& random);

/// What a tensor must hold: these sums of eighths, and nothing between two eighths.
Expected exactly(const std::string& tensor, std::vector<double> values);

}  // namespace rooflab
