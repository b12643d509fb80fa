#include "labs/oracle_support/rmsnorm.h"

#include <cmath>

#include "labs/oracle_support/parameters.h"

namespace rooflab {

double draw_epsilon(Values& parameters, std::uint64_t seed) {
  return draw_default(parameters, "epsilon", 3 * kGemmaEpsilon, 1e-4, seed);
}

double inverse_root_mean_square(double sum_of_squares, double width, double epsilon) {
  return 1 / std::sqrt(sum_of_squares / width + epsilon);
}

double one_plus(double weight) { return 1 + weight; }

Computed rmsnorm(const std::vector<double>& x, const std::vector<double>& weight, double epsilon,
                 const InverseNorm& inverse, const WeightFactor& factor) {
  const auto width = static_cast<double>(weight.size());
  // The sum of squares is off by about sqrt(width) roundings, of which the root halves the relative
  // size; mean, root, and two products add a few.
  const double relative = (4 * std::sqrt(width) + 8) * kFloat32Unit;
  Computed y{std::vector<double>(x.size()), std::vector<double>(x.size())};
  for (std::size_t row = 0; row < x.size(); row += weight.size()) {
    double sum = 0;
    for (std::size_t i = 0; i < weight.size(); ++i) sum += x[row + i] * x[row + i];
    const double scale = inverse(sum, width, epsilon);
    for (std::size_t i = 0; i < weight.size(); ++i) {
      y.value[row + i] = x[row + i] * scale * factor(weight[i]);
      y.error[row + i] = relative * std::abs(y.value[row + i]);
    }
  }
  return y;
}

std::vector<WrongNorm> wrong_norms() {
  const std::string divide =
      "divide by the root of the mean of the squares: x * rsqrt(sum / width + epsilon)";
  const std::string under_root = "epsilon belongs under the root: rsqrt(mean + epsilon)";
  const auto right = inverse_root_mean_square;
  return {
      {"RL0460", "the result is multiplied by the weight instead of by 1 + weight",
       "Gemma's weights are stored as what is added to 1: multiply by (1 + weight)", right,
       [](double weight) { return weight; }},
      {"RL0460", "the result is not multiplied by 1 + weight",
       "multiply each element by (1 + weight) of its column", right, [](double) { return 1.0; }},
      {"RL0461", "the sum of the squares is not divided by the width", divide,
       [](double sum, double, double epsilon) { return 1 / std::sqrt(sum + epsilon); }, one_plus},
      {"RL0461", "rows are multiplied by the root of the mean square instead of divided by it",
       divide,
       [](double sum, double width, double epsilon) { return std::sqrt(sum / width + epsilon); },
       one_plus},
      {"RL0461", "rows are divided by the mean square instead of by its root", divide,
       [](double sum, double width, double epsilon) { return 1 / (sum / width + epsilon); },
       one_plus},
      {"RL0462", "epsilon is added after the root", under_root,
       [](double sum, double width, double epsilon) {
         return 1 / (std::sqrt(sum / width) + epsilon);
       },
       one_plus},
      {"RL0462", "epsilon is added to the reciprocal of the root", under_root,
       [](double sum, double width, double epsilon) {
         return 1 / std::sqrt(sum / width) + epsilon;
       },
       one_plus},
      {"RL0462", "epsilon is left out", under_root,
       [](double sum, double width, double) { return 1 / std::sqrt(sum / width); }, one_plus},
      {"RL0462", "epsilon is added to the sum of the squares before the division by the width",
       under_root,
       [](double sum, double width, double epsilon) {
         return 1 / std::sqrt((sum + epsilon) / width);
       },
       one_plus},
  };
}

}  // namespace rooflab
