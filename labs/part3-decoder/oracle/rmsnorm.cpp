#include <cmath>

#include "grader/contract/oracle.h"
#include "labs/part3-decoder/oracle/operations.h"
#include "labs/part3-decoder/oracle/tensors.h"

namespace rooflab {

double inverse_root_mean_square(double sum_of_squares, double width, double epsilon) {
  return 1 / std::sqrt(sum_of_squares / width + epsilon);
}

double one_plus(double weight) { return 1 + weight; }

Computed rmsnorm(const Numbers& x, const Numbers& weight, double epsilon,
                 const InverseNorm& inverse, const WeightFactor& factor) {
  const auto width = static_cast<double>(weight.size());
  // The sum of squares is off by about sqrt(width) roundings, of which the root halves the relative
  // size; mean, root, and two products add a few.
  const double relative = (4 * std::sqrt(width) + 8) * kFloat32Unit;
  Computed y{Numbers(x.size()), Numbers(x.size())};
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

namespace {

/// y (rows, width) = RMSNorm of x with weight (width).
class RmsNormOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const std::int64_t rows = integer(parameters, "rows");
    const std::int64_t width = integer(parameters, "width");
    const ElementType type = storage_type(parameters);
    Random random(seed);
    Problem problem{parameters, {}};
    problem.tensors.push_back(
        filled("x", type, Role::input, {rows, width}, rows_of_many_sizes(rows, width, random)));
    problem.tensors.push_back(
        random_tensor("weight", type, Role::input, {width}, kWeightDeviation, random));
    problem.tensors.push_back(output("y", type, {rows, width}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    const Inputs in = inputs(problem);
    return {stored("y", in.type, rmsnorm(in.x, in.weight, kEpsilon))};
  }

  Work work(const Values& parameters) const override {
    const auto rows = static_cast<double>(integer(parameters, "rows"));
    const auto width = static_cast<double>(integer(parameters, "width"));
    const auto bytes = static_cast<double>(size_of(storage_type(parameters)));
    return {{{"fp32", 5 * rows * width + 3 * rows}}, bytes * (2 * rows * width + width)};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    const Inputs in = inputs(problem);
    Mistakes mistakes(expect(problem));
    const auto add = [&](const char* code, const char* cause, const char* advice,
                         const InverseNorm& inverse, const WeightFactor& factor) {
      mistakes.add(code, cause, advice,
                   {stored("y", in.type, rmsnorm(in.x, in.weight, kEpsilon, inverse, factor))});
    };
    add("RL0460", "the result is multiplied by the weight instead of by 1 + weight",
        "Gemma's weights are stored as what is added to 1: multiply by (1 + weight)",
        inverse_root_mean_square, [](double w) { return w; });
    add_wrong_divisors(add);
    add_wrong_epsilons(add);
    add_early_casts(in, mistakes);
    mistakes.add("RL0460", "the result is not multiplied by 1 + weight",
                 "multiply each element by (1 + weight) of its column",
                 {stored("y", in.type, rmsnorm(in.x, Numbers(in.weight.size(), 0.0), kEpsilon))});
    return mistakes.take();
  }

 private:
  static constexpr double kWeightDeviation = 0.3;

  struct Inputs {
    ElementType type;
    Numbers x, weight;
  };

  static Inputs inputs(const Problem& problem) {
    return {storage_type(problem.parameters), widened(problem, "x"), widened(problem, "weight")};
  }

  /// Most rows have size 1. Some are so small that epsilon counts, some large, some zero.
  static Numbers rows_of_many_sizes(std::int64_t rows, std::int64_t width, Random& random) {
    constexpr double kSizes[] = {1, 2e-3, 30, 1, 0.1, 1, 5e-4, 0};
    Numbers x = normal_values(rows * width, 1, random);
    for (std::int64_t i = 0; i < rows * width; ++i) x[i] *= kSizes[i / width % std::size(kSizes)];
    return x;
  }

  template <typename Add>
  static void add_wrong_divisors(const Add& add) {
    constexpr const char* kCode = "RL0461";
    constexpr const char* kAdvice =
        "divide by the root of the mean of the squares: x * rsqrt(sum / width + epsilon)";
    add(
        kCode, "the sum of the squares is not divided by the width", kAdvice,
        [](double sum, double, double epsilon) { return 1 / std::sqrt(sum + epsilon); }, one_plus);
    add(
        kCode, "rows are multiplied by the root of the mean square instead of divided by it",
        kAdvice,
        [](double sum, double width, double epsilon) { return std::sqrt(sum / width + epsilon); },
        one_plus);
    add(
        kCode, "rows are divided by the mean square instead of by its root", kAdvice,
        [](double sum, double width, double epsilon) { return 1 / (sum / width + epsilon); },
        one_plus);
  }

  template <typename Add>
  static void add_wrong_epsilons(const Add& add) {
    constexpr const char* kCode = "RL0462";
    constexpr const char* kAdvice = "epsilon belongs under the root: rsqrt(mean + epsilon)";
    add(
        kCode, "epsilon is added after the root", kAdvice,
        [](double sum, double width, double epsilon) {
          return 1 / (std::sqrt(sum / width) + epsilon);
        },
        one_plus);
    add(
        kCode, "epsilon is added to the reciprocal of the root", kAdvice,
        [](double sum, double width, double epsilon) {
          return 1 / std::sqrt(sum / width) + epsilon;
        },
        one_plus);
    add(
        kCode, "epsilon is left out", kAdvice,
        [](double sum, double width, double) { return 1 / std::sqrt(sum / width); }, one_plus);
    add(
        kCode, "epsilon is added to the sum of the squares before the division by the width",
        kAdvice,
        [](double sum, double width, double epsilon) {
          return 1 / std::sqrt((sum + epsilon) / width);
        },
        one_plus);
  }

  /// The normalised x, the factor 1 + weight, or both are rounded to the storage type before they
  /// are multiplied.
  static void add_early_casts(const Inputs& in, Mistakes& mistakes) {
    if (in.type == ElementType::float32) return;
    Numbers factors;
    for (const double weight : in.weight) factors.push_back(rounded(in.type, 1 + weight));
    const Numbers zero(in.weight.size(), 0.0);  // 1 + 0: no factor
    const Computed normalised = rmsnorm(in.x, zero, kEpsilon);
    for (const bool round_x : {true, false}) {
      for (const bool round_factor : {false, true}) {
        if (!round_x && !round_factor) continue;
        Computed y = normalised;
        for (std::size_t i = 0; i < y.value.size(); ++i) {
          const std::size_t column = i % in.weight.size();
          const double factor = round_factor ? factors[column] : 1 + in.weight[column];
          if (round_x) round_within_error(in.type, y.value[i], y.error[i]);
          y.value[i] *= factor;
          y.error[i] = y.error[i] * std::abs(factor) + 4 * kFloat32Unit * std::abs(y.value[i]);
        }
        mistakes.add("RL0463", "values are rounded to bfloat16 before the weight is multiplied",
                     "keep x * rsqrt(...) * (1 + weight) in float, and convert the product once",
                     {stored("y", in.type, std::move(y))});
      }
    }
  }

  /// Rounds a value that is known within `error`, which becomes what is uncertain afterwards:
  /// nothing, or the distance of both candidates when the value is too close to a tie to tell.
  static void round_within_error(ElementType type, double& value, double& error) {
    const double low = rounded(type, value - error);
    const double high = rounded(type, value + error);
    value = (low + high) / 2;
    error = (high - low) / 2;
  }
};

ROOFLAB_ORACLE("rmsnorm", RmsNormOracle)

}  // namespace
}  // namespace rooflab
