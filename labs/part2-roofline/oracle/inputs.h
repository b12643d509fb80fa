#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "labs/oracle_support/tensors.h"

/// Making and reading the float32 vectors of Part 2's problems.
namespace rooflab {

/// Evenly spread over [low, high), rounded to float32.
double uniform(Random& random, double low, double high);

/// An input of n values from `draw`. Drawing hundreds of megabytes would take longer than the
/// kernel: beyond 65,536 values each is one of those, and 16 bits of `random` say which, but for
/// its last bits, which are others of `random`: a table of results would be as long as the input.
/// No part of the input tells what another holds.
Tensor drawn_input(const std::string& name, std::int64_t n, Random& random,
                   const std::function<double()>& draw);

/// An input of n values that repeats `values`.
Tensor repeated_input(const std::string& name, std::int64_t n, std::span<const float> values);

/// An output of n elements that is still to be written.
Tensor vector_output(const std::string& name, std::int64_t n);

/// Elements of an output that are compared at most, where computing one takes a few operations.
inline constexpr std::size_t kMostCompared = std::size_t{1} << 18;

}  // namespace rooflab
