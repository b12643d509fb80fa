#include <cmath>
#include <functional>
#include <numbers>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/gelu.h"
#include "labs/oracle_support/known_mistakes.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/rounding.h"
#include "labs/oracle_support/selection.h"
#include "labs/oracle_support/tensors.h"

namespace rooflab {
namespace {

/// y (count) = GELU of x (count). With `largest = 1`, some elements are near the largest number.
class FusedGeluOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const std::int64_t count = integer(parameters, "count");
    const ElementType type = storage_type(parameters);
    Random random(seed);
    Problem problem{parameters, {}};
    problem.vast = is_vast(parameters);
    const std::int64_t drawn = problem.vast ? vast_period(type) : count;
    std::vector<double> values = values_of_many_sizes(drawn, random);
    if (parameters.contains("largest")) make_some_largest(values);
    const Tensor x = filled("x", type, Role::input, {drawn}, values);
    problem.tensors.push_back(problem.vast ? repeated(x, count) : x);
    problem.tensors.push_back(output("y", type, {count}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return {result(problem, gelu_tanh)};
  }

  Work work(const Values& parameters) const override {
    // 8 FLOPs for GELU by the course's convention.
    const auto count = static_cast<double>(integer(parameters, "count"));
    const auto bytes = static_cast<double>(size_of(storage_type(parameters)));
    return {{{"fp32", 8 * count}}, bytes * 2 * count};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    if (problem.vast) return {};  // other cases know them
    Mistakes mistakes(expect(problem));
    const auto add = [&](Code code, const char* cause, const char* advice,
                         const std::function<double(double)>& function) {
      mistakes.add(code, cause, advice, {result(problem, function)});
    };
    constexpr const char* kFormula =
        "gelu(x) = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), and nothing else";
    add("RL0469", "GELU is computed with erf instead of with the tanh formula", kFormula, gelu_erf);
    add("RL0469", "another function stands where GELU should: x * sigmoid(1.702 x)", kFormula,
        [](double x) { return sigmoid_unit(x, 1.702); });
    add("RL0469", "another function stands where GELU should: x * sigmoid(x), the SiLU", kFormula,
        [](double x) { return sigmoid_unit(x, 1); });
    add("RL0491", "the cubic term 0.044715 x^3 is missing", kFormula,
        [](double x) { return gelu_tanh_with(x, 0); });
    add("RL0491", "the cubic term of GELU has x^2 instead of x^3", kFormula, [](double x) {
      const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x);
      return x / 2 * (1 + std::tanh(inner));
    });
    add_eager_rounding(problem, mistakes);
    return mistakes.take();
  }

 private:
  /// Eight kernels, each of which rounds what it stores.
  static void add_eager_rounding(const Problem& problem, Mistakes& mistakes) {
    const ElementType type = storage_type(problem.parameters);
    Computed y;
    for (const double x : widened(problem, "x")) {
      const auto round = [type](double value) { return rounded(type, value); };
      const double cubic = round(0.044715 * round(x * x * x));
      const double inner = round(std::sqrt(2 / std::numbers::pi) * round(x + cubic));
      const double product = round(0.5 * x) * round(1 + round(std::tanh(inner)));
      y.value.push_back(product);
      y.error.push_back(ulp(type, product));  // where one of the steps is close to a tie
    }
    mistakes.add("RL0490", "values are rounded to bfloat16 after each step of GELU",
                 "keep what lies between loading x and storing y in float: each rounding is an "
                 "error, and 1 + tanh makes large ones of them where x is negative",
                 {stored("y", type, std::move(y))});
  }

  /// tanh and erf differ most, relative to GELU itself, around -3. Some values are so large that
  /// exp(2 x) overflows, some that x^3 does; some are zero.
  static std::vector<double> values_of_many_sizes(std::int64_t count, Random& random) {
    constexpr double kDeviation = 2;
    std::vector<double> x = normal_values(count, kDeviation, random);
    for (std::int64_t i = 13; i < count; i += 101) x[i] *= 30;
    for (std::int64_t i = 29; i < count; i += 211) x[i] *= 1e20;
    for (std::int64_t i = 31; i < count; i += 97) x[i] = 0;
    return x;
  }

  /// Some whose double is beyond the largest number of float, 3.4e38, as GELU itself is not.
  static void make_some_largest(std::vector<double>& x) {
    constexpr double kLeast = 1.8e38, kMostBeyond = 1.4e38;
    for (std::size_t i = 43; i < x.size(); i += 223) {
      x[i] = std::copysign(kLeast + kMostBeyond * std::exp(-std::abs(x[i])), x[i]);
    }
  }

  static Expected result(const Problem& problem, const std::function<double(double)>& function) {
    // For negative x, 1 + tanh cancels: what is left is off by the roundings of a number near 1.
    constexpr double kRoundings = 8;
    const std::vector<std::size_t> index = elements_if_vast(problem, "y");
    Computed y;
    for (const double x :
         problem.vast ? widened(tensor(problem, "x"), index) : widened(problem, "x")) {
      y.value.push_back(function(x));
      y.error.push_back(kRoundings * kFloat32Unit * std::abs(x));
    }
    Expected expected = stored("y", storage_type(problem.parameters), std::move(y));
    expected.index = index;
    return expected;
  }
};

ROOFLAB_ORACLE("fused_gelu", FusedGeluOracle)

}  // namespace
}  // namespace rooflab
