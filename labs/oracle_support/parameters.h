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

/// Whether the case also asks how its right result came about (`judges_structure = 1`). Such cases
/// make a small group of their own, so that a right result of another structure keeps its points.
bool judges_structure(const Values& parameters);

/// A number where the case gives none is `fallback`, which becomes a parameter.
double set_default(Values& parameters, const std::string& name, double fallback);

/// Whether a case asks for a vast problem (Problem::vast), by the parameter `vast = 1`.
bool is_vast(const Values& parameters);

}  // namespace rooflab
