#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "grader/contract/problem.h"

/// Making and reading the parameters and tensors of Part 3's problems.
namespace rooflab {

/// The source of every input. std::mt19937_64 gives the same numbers with every standard library.
using Random = std::mt19937_64;

/// An integer parameter that must be there and be at least `minimum`.
/// @throws std::invalid_argument naming the parameter
std::int64_t integer(const Values& parameters, const std::string& name, std::int64_t minimum = 1);

/// The same for a number and for a text.
double real(const Values& parameters, const std::string& name);
const std::string& text(const Values& parameters, const std::string& name);

/// A number where the case gives none is `fallback`, which becomes a parameter.
double set_default(Values& parameters, const std::string& name, double fallback);

/// What `type` says the tensors are stored as: "float" or "bf16".
ElementType storage_type(const Values& parameters);

/// `count` values with mean 0 and the given standard deviation, about normal.
std::vector<double> normal_values(std::int64_t count, double deviation, Random& random);

/// A tensor that holds `values`, each rounded to the nearest value of the type, ties to even, so
/// that a reference which reads the tensor sees the very numbers that the GPU sees.
/// @pre type is float32, bfloat16 or int32; floating-point values may be a quiet NaN
Tensor filled(const std::string& name, ElementType type, Role role, std::vector<std::int64_t> shape,
              const std::vector<double>& values);

/// filled() with normal_values().
Tensor random_tensor(const std::string& name, ElementType type, Role role,
                     std::vector<std::int64_t> shape, double deviation, Random& random);

/// An output that is still to be written.
Tensor output(const std::string& name, ElementType type, std::vector<std::int64_t> shape);

/// int32 (count): first, first + 1, …
Tensor consecutive(const std::string& name, std::int64_t first, std::int64_t count);

/// The tensor of that name. @throws std::out_of_range
const Tensor& tensor(const Problem& problem, const std::string& name);

/// All elements of the tensor of that name, as doubles.
std::vector<double> widened(const Problem& problem, const std::string& name);

}  // namespace rooflab
