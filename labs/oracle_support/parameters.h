#pragma once

#include <cstdint>
#include <string>

#include "grader/contract/problem.h"

/// Reading a case's parameters.
namespace rooflab {

/// A parameter that must be there and have this type; an integer must be at least `minimum`.
/// @throws std::invalid_argument naming the parameter
std::int64_t integer(const Values& parameters, const std::string& name, std::int64_t minimum = 1);
double real(const Values& parameters, const std::string& name);
const std::string& text(const Values& parameters, const std::string& name);

/// A number where the case gives none is `fallback`, which becomes a parameter.
double set_default(Values& parameters, const std::string& name, double fallback);

}  // namespace rooflab
