#pragma once

#include <functional>
#include <string>
#include <vector>

#include "labs/oracle_support/rounding.h"

/// RMSNorm in fp64, and what it looks like when a known mistake made it.
namespace rooflab {

inline constexpr double kEpsilon = 1e-6;  ///< Gemma 3's, added to the mean of the squares

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
  std::string code, cause, advice;
  InverseNorm inverse;
  WeightFactor factor;
};

/// Wrong weights, divisors and epsilons.
std::vector<WrongNorm> wrong_norms();

}  // namespace rooflab
