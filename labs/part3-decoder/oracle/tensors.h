#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/tensors.h"

/// The parameters and tensors of Part 3's problems.
namespace rooflab {

/// A number where the case gives none is `fallback`, which becomes a parameter.
double set_default(Values& parameters, const std::string& name, double fallback);

/// What `type` says the tensors are stored as: "float" or "bf16".
ElementType storage_type(const Values& parameters);

/// `count` values with mean 0 and the given standard deviation, about normal.
std::vector<double> normal_values(std::int64_t count, double deviation, Random& random);

/// drawn() that holds `values`.
Tensor filled(const std::string& name, ElementType type, Role role, std::vector<std::int64_t> shape,
              const std::vector<double>& values);

/// drawn() with what normal_values() gives.
Tensor random_tensor(const std::string& name, ElementType type, Role role,
                     std::vector<std::int64_t> shape, double deviation, Random& random);

/// int32 (count): first, first + 1, …
Tensor consecutive(const std::string& name, std::int64_t first, std::int64_t count);

/// All elements of the tensor of that name, as doubles.
std::vector<double> widened(const Problem& problem, const std::string& name);

}  // namespace rooflab
