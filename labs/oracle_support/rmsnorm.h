#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "grader/contract/problem.h"
#include "labs/oracle_support/rounding.h"

/// RMSNorm in fp64, and what it looks like when a known mistake made it.
namespace rooflab {

inline constexpr double kGemmaEpsilon = 1e-6;

/// The parameter `epsilon` of a case that normalises rows: drawn where the case gives none, beyond
/// Gemma 3's and large enough that it shows in rows of small elements.
double draw_epsilon(Values& parameters, std::uint64_t seed);

/// What a row is multiplied by, from the sum of its squares.
using InverseNorm = std::function<double(double sum_of_squares, double width, double epsilon)>;
/// What an element is multiplied by, from its weight.
using WeightFactor = std::function<double(double weight)>;

double inverse_root_mean_square(double sum_of_squares, double width, double epsilon);
double one_plus(double weight);

/// y = x / sqrt(mean(x^2) + epsilon) * (1 + weight) over rows of weight.size() elements.
Computed rmsnorm(const std::vector<double>& x, const std::vector<double>& weight, double epsilon,
                 const InverseNorm& inverse = inverse_root_mean_square,
                 const WeightFactor& factor = one_plus);

/// A norm that is wrong in one way, and how to tell of it.
struct WrongNorm {
  Code code;
  std::string cause, advice;
  InverseNorm inverse;
  WeightFactor factor;
};

/// Gemma's epsilon where another is passed.
struct KnownCause {
  Code code;
  const char *cause, *advice;
};
inline constexpr KnownCause kFixedEpsilon = {
    "RL0462", "epsilon is 1e-6 instead of what is passed",
    "pass `epsilon` on to the kernel: every model has its own"};

/// Wrong weights, divisors and epsilons.
std::vector<WrongNorm> wrong_norms();

}  // namespace rooflab
