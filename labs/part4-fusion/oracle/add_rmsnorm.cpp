#include <cmath>
#include <iterator>
#include <utility>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/known_mistakes.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/rmsnorm.h"
#include "labs/oracle_support/rounding.h"
#include "labs/oracle_support/selection.h"
#include "labs/oracle_support/tensors.h"

namespace rooflab {
namespace {

using Numbers = std::vector<double>;

/// residual (rows, width) += x; y = RMSNorm of residual with weight (width).
class AddRmsNormOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const std::int64_t rows = integer(parameters, "rows");
    const std::int64_t width = integer(parameters, "width");
    const ElementType type = storage_type(parameters);
    Random random(seed);
    Problem problem{parameters, {}};
    draw_epsilon(problem.parameters, seed);
    problem.vast = is_vast(parameters);
    if (problem.vast) {
      const auto add = [&](const char* name, Role role) {
        problem.tensors.push_back(repeated(
            random_tensor(name, type, role, {vast_period(type)}, 1, random), rows * width));
      };
      add("x", Role::input);
      add("residual", Role::in_out);
    } else {
      const Addends addends = addends_of_many_sizes(rows, width, random);
      problem.tensors.push_back(filled("x", type, Role::input, {rows, width}, addends.x));
      problem.tensors.push_back(
          filled("residual", type, Role::in_out, {rows, width}, addends.residual));
    }
    Tensor weight = random_tensor("weight", type, Role::input, {width}, kWeightDeviation, random);
    problem.tensors.push_back(problem.vast ? in_whole_pages(std::move(weight)) : std::move(weight));
    problem.tensors.push_back(output("y", type, {rows, width}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    if (problem.vast) return some_rows(problem);
    const Inputs in = inputs(problem);
    return in.outputs(in.sum, in.normed(in.stored_sum()));
  }

  Work work(const Values& parameters) const override {
    const auto rows = static_cast<double>(integer(parameters, "rows"));
    const auto width = static_cast<double>(integer(parameters, "width"));
    const auto bytes = static_cast<double>(size_of(storage_type(parameters)));
    return {{{"fp32", 6 * rows * width + 3 * rows}}, bytes * (4 * rows * width + width)};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    if (problem.vast) return {};  // other cases know them
    const Inputs in = inputs(problem);
    const Computed y = in.normed(in.stored_sum());
    Mistakes mistakes(expect(problem));
    const auto add = [&](Code code, const std::string& cause, const std::string& advice,
                         const Computed& residual, const Computed& y) {
      mistakes.add(code, cause, advice, in.outputs(residual, y));
    };
    const Computed old_residual = exactly(in.residual);
    const Computed x = exactly(in.x);
    const char* const store = "store residual + x to residual: the next layer adds to it";
    add("RL0492", "the sum is not stored back: residual is as it was", store, old_residual, y);
    add("RL0492", "residual holds x instead of the sum", store, x, y);
    add("RL0492", "residual holds y instead of the sum", store, y, y);
    const char* const order = "add first, store the sum, then norm it: y = rmsnorm(residual + x)";
    add("RL0493", "the residual is added after the norm instead of before it", order,
        plus(in.normed(x), in.residual), plus(in.normed(x), in.residual));
    add("RL0494", "x alone is normed, without the residual", order, in.sum, in.normed(x));
    add("RL0494", "the residual is normed as it was before x is added", order, in.sum,
        in.normed(old_residual));
    add("RL0494", "the sum is divided by the root mean square of x alone", order, in.sum,
        in.divided_by_norm_of(x));
    add("RL0494", "the sum is divided by the root mean square of the old residual", order, in.sum,
        in.divided_by_norm_of(old_residual));
    add("RL0495", "the norm takes the sums before they are rounded",
        "round the sum to the type of residual, and norm what is stored there", in.sum,
        in.normed(in.sum));
    for (const WrongNorm& wrong : wrong_norms()) {
      add(wrong.code, wrong.cause, wrong.advice, in.sum,
          in.normed(in.stored_sum(), wrong.inverse, wrong.factor));
    }
    if (in.epsilon != kGemmaEpsilon) {
      Inputs fixed = in;
      fixed.epsilon = kGemmaEpsilon;
      add(kFixedEpsilon.code, kFixedEpsilon.cause, kFixedEpsilon.advice, in.sum,
          fixed.normed(in.stored_sum()));
    }
    add("RL0463", "values are rounded to bfloat16 before the weight is multiplied",
        "keep residual * rsqrt(...) * (1 + weight) in float, and convert the product once", in.sum,
        in.rounded_before_weight());
    return mistakes.take();
  }

 private:
  static constexpr double kWeightDeviation = 0.3;

  struct Addends {
    Numbers x, residual;
  };

  struct Inputs {
    ElementType type;
    double epsilon;
    Numbers x, residual, weight;
    Computed sum;  ///< residual + x, before it is stored

    /// What a kernel reads back from residual: added in fp32, which rounds but one way, then
    /// stored.
    Computed stored_sum() const {
      Computed stored = exactly(sum.value);
      for (double& value : stored.value) value = rounded(type, static_cast<float>(value));
      return stored;
    }

    /// RMSNorm of values that may themselves be off by little.
    Computed normed(const Computed& values, const InverseNorm& inverse = inverse_root_mean_square,
                    const WeightFactor& factor = one_plus) const {
      Computed y = rmsnorm(values.value, weight, epsilon, inverse, factor);
      for (std::size_t i = 0; i < y.value.size(); ++i) {
        if (values.error[i] == 0) continue;
        // y grows in proportion with its element, whose share in the row's sum is small.
        y.error[i] += 2 * values.error[i] * std::abs(y.value[i] / values.value[i]);
      }
      return y;
    }

    /// The stored sum, scaled by what the other values would be.
    Computed divided_by_norm_of(const Computed& other) const {
      Computed y = normed(stored_sum());
      const std::size_t width = weight.size();
      const auto inverse_of = [&](const Numbers& values, std::size_t row) {
        double squares = 0;
        for (std::size_t i = 0; i < width; ++i) squares += values[row + i] * values[row + i];
        return inverse_root_mean_square(squares, static_cast<double>(width), epsilon);
      };
      const Computed sums = stored_sum();
      for (std::size_t row = 0; row < y.value.size(); row += width) {
        const double factor = inverse_of(other.value, row) / inverse_of(sums.value, row);
        for (std::size_t i = row; i < row + width; ++i) {
          y.value[i] *= factor;
          y.error[i] *= factor;
        }
      }
      return y;
    }

    Computed rounded_before_weight() const {
      const Numbers no_weight(weight.size(), 0.0);  // 1 + 0: no factor
      Computed y = rmsnorm(stored_sum().value, no_weight, epsilon);
      if (type == ElementType::float32) return normed(stored_sum());
      for (std::size_t i = 0; i < y.value.size(); ++i) {
        const double factor = 1 + weight[i % weight.size()];
        round_within_error(type, y.value[i], y.error[i]);
        y.value[i] *= factor;
        y.error[i] = y.error[i] * std::abs(factor) + 4 * kFloat32Unit * std::abs(y.value[i]);
      }
      return y;
    }

    std::vector<Expected> outputs(const Computed& residual_after, const Computed& y) const {
      return {stored("residual", type, residual_after), stored("y", type, y)};
    }
  };

  /// What some rows of a vast problem become.
  static std::vector<Expected> some_rows(const Problem& problem) {
    constexpr std::int64_t kMostRows = 200;
    const std::int64_t width = integer(problem.parameters, "width");
    const std::vector<std::size_t> index =
        elements_of_rows(selected_rows(problem, "y", width, kMostRows), width);
    Inputs in{storage_type(problem.parameters),     real(problem.parameters, "epsilon"),
              widened(tensor(problem, "x"), index), widened(tensor(problem, "residual"), index),
              widened(problem, "weight"),           {}};
    in.sum = plus(exactly(in.residual), in.x);
    std::vector<Expected> outputs = in.outputs(in.sum, in.normed(in.stored_sum()));
    for (Expected& output : outputs) output.index = index;
    return outputs;
  }

  static Inputs inputs(const Problem& problem) {
    Inputs in{storage_type(problem.parameters),
              real(problem.parameters, "epsilon"),
              widened(problem, "x"),
              widened(problem, "residual"),
              widened(problem, "weight"),
              {}};
    in.sum = plus(exactly(in.residual), in.x);
    return in;
  }

  static Computed exactly(const Numbers& values) { return {values, Numbers(values.size(), 0.0)}; }

  static Computed plus(Computed a, const Numbers& b) {
    for (std::size_t i = 0; i < b.size(); ++i) {
      a.value[i] += b[i];
      a.error[i] += kFloat32Unit * std::abs(a.value[i]);
    }
    return a;
  }

  /// Most rows have size 1. Some are so small that epsilon counts; some are large enough that their
  /// squares pass the largest half; in some, x takes the residual back, so that zeros are left.
  static Addends addends_of_many_sizes(std::int64_t rows, std::int64_t width, Random& random) {
    constexpr double kSizes[] = {1, 2e-3, 1e4, 1, 0.1, 1e12, 5e-4, 1};
    constexpr std::int64_t kZeroRow = 7;  // of as many as there are sizes
    Addends addends{normal_values(rows * width, 1, random), normal_values(rows * width, 1, random)};
    for (std::int64_t i = 0; i < rows * width; ++i) {
      const std::int64_t kind = i / width % std::ssize(kSizes);
      addends.x[i] *= kSizes[kind];
      addends.residual[i] *= kSizes[kind];
      if (kind == kZeroRow) addends.x[i] = -addends.residual[i];
    }
    return addends;
  }
};

ROOFLAB_ORACLE("add_rmsnorm", AddRmsNormOracle)

}  // namespace
}  // namespace rooflab
