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
/// kernel: beyond 65,537 values, a prime, the same block comes again and again, so that no offset
/// that is a power of two leads from one element to an equal one.
Tensor drawn_input(const std::string& name, std::int64_t n, const std::function<double()>& draw);

/// An input of n values that repeats `values`.
Tensor repeated_input(const std::string& name, std::int64_t n, std::span<const float> values);

/// An output of n elements that is still to be written.
Tensor vector_output(const std::string& name, std::int64_t n);

/// The elements of an output of n that are compared, ascending: empty, which stands for all of
/// them, up to 2^18; of longer outputs the first and last 100, and 10,000 that the seed decides.
std::vector<std::size_t> compared_elements(std::int64_t n, std::uint64_t seed);

/// All of `index`, or 0 … n - 1 where it is empty.
std::vector<std::size_t> listed(const std::vector<std::size_t>& index, std::int64_t n);

}  // namespace rooflab
