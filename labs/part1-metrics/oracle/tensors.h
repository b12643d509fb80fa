#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "labs/oracle_support/tensors.h"

/// The inputs of Part 1's problems.
namespace rooflab {

/// An input of values spread evenly over (-1, 1), hardly ever whole numbers.
/// @pre type is float32 or bfloat16
Tensor random_input(const std::string& name, ElementType type, std::vector<std::int64_t> shape,
                    Random& random);

}  // namespace rooflab
