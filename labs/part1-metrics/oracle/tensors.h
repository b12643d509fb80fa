#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "grader/contract/problem.h"

/// Making and reading the tensors of Part 1's problems.
namespace rooflab {

/// The source of every input. std::mt19937_64 gives the same numbers with every standard library.
using Random = std::mt19937_64;

/// An integer parameter that must be there and be at least `minimum`.
/// @throws std::invalid_argument naming the parameter
std::int64_t integer(const Values& parameters, const std::string& name, std::int64_t minimum = 1);

/// An input of values spread evenly over (-1, 1), hardly ever whole numbers; for bfloat16 they are
/// rounded to the nearest bfloat16, so that the reference sees the very values that the GPU sees.
/// @pre type is float32 or bfloat16
Tensor random_input(const std::string& name, ElementType type, std::vector<std::int64_t> shape,
                    Random& random);

/// An output that is still to be written.
Tensor output(const std::string& name, std::vector<std::int64_t> shape);

/// The elements of a float32 tensor. @pre its data is present
std::span<const float> floats(const Tensor& tensor);

/// All elements of a tensor, as doubles.
std::vector<double> widened(const Tensor& tensor);

}  // namespace rooflab
