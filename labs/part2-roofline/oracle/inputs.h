#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "grader/contract/problem.h"

/// Making and reading the float32 vectors of Part 2's problems.
namespace rooflab {

/// The source of every input. std::mt19937_64 gives the same numbers with every standard library.
using Random = std::mt19937_64;

/// A parameter that must be there and be at least `minimum`.
/// @throws std::invalid_argument naming the parameter
std::int64_t integer(const Values& parameters, const std::string& name, std::int64_t minimum = 1);
double real(const Values& parameters, const std::string& name);
const std::string& text(const Values& parameters, const std::string& name);

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

/// The elements of a float32 tensor. @pre its data is present
std::span<const float> floats(const Tensor& tensor);

/// The elements of an output of n that are compared, ascending: empty, which stands for all of
/// them, up to 2^18; of longer outputs the first and last 100, and 10,000 that the seed decides.
std::vector<std::size_t> compared_elements(std::int64_t n, std::uint64_t seed);

/// All of `index`, or 0 … n - 1 where it is empty.
std::vector<std::size_t> listed(const std::vector<std::size_t>& index, std::int64_t n);

/// The distance of neighbouring float32 values at `value`, at least that of subnormal ones.
double ulp(double value);

}  // namespace rooflab
