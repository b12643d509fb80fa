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

/// Where the case gives no number, one between `low` and `high` that follows from `seed` becomes
/// the parameter, a float: a scalar that is the same in all cases could stand in a kernel as a
/// constant. Numbers with other names are independent of it, and so are the tensors. @pre 0 < low <
/// high
double draw_default(Values& parameters, const std::string& name, double low, double high,
                    std::uint64_t seed);

/// The parameter `name`, by which attention multiplies its scores: drawn beyond 1 / sqrt(head_dim),
/// which most models have, so that no kernel gets along with that.
double draw_attention_scale(Values& parameters, const std::string& name, std::int64_t head_dim,
                            std::uint64_t seed);

/// Whether a case asks for a vast problem (Problem::vast), by the parameter `vast = 1`.
bool is_vast(const Values& parameters);

}  // namespace rooflab
