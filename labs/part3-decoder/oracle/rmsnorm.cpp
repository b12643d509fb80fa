#include <cmath>

#include "grader/contract/oracle.h"
#include "labs/part3-decoder/oracle/operations.h"
#include "labs/part3-decoder/oracle/tensors.h"

namespace rooflab {

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
    for (const WrongNorm& wrong : wrong_norms()) {
      mistakes.add(
          wrong.code, wrong.cause, wrong.advice,
          {stored("y", in.type, rmsnorm(in.x, in.weight, kEpsilon, wrong.inverse, wrong.factor))});
    }
    add_early_casts(in, mistakes);
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
};

ROOFLAB_ORACLE("rmsnorm", RmsNormOracle)

}  // namespace
}  // namespace rooflab
