#include <cmath>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/known_mistakes.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/rounding.h"
#include "labs/oracle_support/tensors.h"

namespace rooflab {
namespace {

/// out (n) = s * x (n) + y (n). A case's parameter is n; s comes from the seed.
class ScaledSumOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const std::int64_t n = integer(parameters, "n");
    Random random(seed);
    // Exact in float32, and far from 1, with which the scale could be forgotten.
    const double s = 2.0 + static_cast<double>(random() % 64) / 64;
    Problem problem{parameters, {}};
    problem.parameters["s"] = s;
    const auto draw = [&] { return static_cast<double>(random() >> 11) * 0x1p-52 - 1.0; };
    for (const char* name : {"x", "y"}) {
      problem.tensors.push_back(drawn(name, ElementType::float32, Role::input, {n}, draw));
    }
    problem.tensors.push_back(output("out", ElementType::float32, {n}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return {outputs(problem, real(problem.parameters, "s"), 1.0)};
  }

  Work work(const Values& parameters) const override {
    const auto n = static_cast<double>(integer(parameters, "n"));
    return {{{"fp32", 2 * n}}, 3 * sizeof(float) * n};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    Mistakes mistakes(expect(problem));
    mistakes.add("RL0441", "the scale is missing", "each element of x is multiplied by s",
                 {outputs(problem, 1.0, 1.0)});
    return mistakes.take();
  }

 private:
  /// x_scale * x + y_scale * y in fp64, and how far off fp32 may be: a product and a sum, each
  /// rounded once, in whichever order.
  static Expected outputs(const Problem& problem, double x_scale, double y_scale) {
    const auto x = floats(tensor(problem, "x"));
    const auto y = floats(tensor(problem, "y"));
    Expected expected{"out", {}, {}};
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double a = x_scale * x[i];
      const double b = y_scale * y[i];
      expected.value.push_back(a + b);
      expected.tolerance.push_back(2 * kFloat32Unit * (std::abs(a) + std::abs(b)));
    }
    return expected;
  }
};

ROOFLAB_ORACLE("scaled_sum", ScaledSumOracle)

}  // namespace
}  // namespace rooflab
