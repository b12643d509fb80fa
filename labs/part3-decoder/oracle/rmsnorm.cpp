#include <cmath>
#include <map>
#include <utility>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/selection.h"
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
    draw_epsilon(problem.parameters, seed);
    problem.vast = is_vast(parameters);
    problem.tensors.push_back(problem.vast ? repeated(random_tensor("x", type, Role::input,
                                                                    {vast_period(type)}, 1, random),
                                                      rows * width)
                                           : filled("x", type, Role::input, {rows, width},
                                                    rows_of_many_sizes(rows, width, random)));
    Tensor weight = random_tensor("weight", type, Role::input, {width}, kWeightDeviation, random);
    problem.tensors.push_back(problem.vast ? in_whole_pages(std::move(weight)) : std::move(weight));
    problem.tensors.push_back(output("y", type, {rows, width}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    if (problem.vast) return {some_rows(problem)};
    const Inputs in = inputs(problem);
    return {stored("y", in.type, rmsnorm(in.x, in.weight, in.epsilon))};
  }

  Work work(const Values& parameters) const override {
    const auto rows = static_cast<double>(integer(parameters, "rows"));
    const auto width = static_cast<double>(integer(parameters, "width"));
    const auto bytes = static_cast<double>(size_of(storage_type(parameters)));
    return {{{"fp32", 5 * rows * width + 3 * rows}}, bytes * (2 * rows * width + width)};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    if (problem.vast) return {};  // other cases know them
    const Inputs in = inputs(problem);
    Mistakes mistakes(expect(problem));
    for (const WrongNorm& wrong : wrong_norms()) {
      mistakes.add(wrong.code, wrong.cause, wrong.advice,
                   {stored("y", in.type,
                           rmsnorm(in.x, in.weight, in.epsilon, wrong.inverse, wrong.factor))});
    }
    if (in.epsilon != kGemmaEpsilon) {
      mistakes.add(kFixedEpsilon.code, kFixedEpsilon.cause, kFixedEpsilon.advice,
                   {stored("y", in.type, rmsnorm(in.x, in.weight, kGemmaEpsilon))});
    }
    add_early_casts(in, mistakes);
    add_mean(in, mistakes);
    add_sums_of_warps(in, mistakes);
    return mistakes.take();
  }

 private:
  static constexpr double kWeightDeviation = 0.3;

  struct Inputs {
    ElementType type;
    double epsilon;
    Numbers x, weight;
  };

  static Inputs inputs(const Problem& problem) {
    return {storage_type(problem.parameters), real(problem.parameters, "epsilon"),
            widened(problem, "x"), widened(problem, "weight")};
  }

  /// What some rows of a vast problem become.
  static Expected some_rows(const Problem& problem) {
    constexpr std::int64_t kMostRows = 200;
    const std::int64_t width = integer(problem.parameters, "width");
    const std::vector<std::size_t> index =
        elements_of_rows(selected_rows(problem, "y", width, kMostRows), width);
    Expected y = stored("y", storage_type(problem.parameters),
                        rmsnorm(widened(tensor(problem, "x"), index), widened(problem, "weight"),
                                real(problem.parameters, "epsilon")));
    y.index = index;
    return y;
  }

  /// Most rows have size 1. Some are so small that epsilon counts, some large, some zero.
  static Numbers rows_of_many_sizes(std::int64_t rows, std::int64_t width, Random& random) {
    constexpr double kSizes[] = {1, 2e-3, 30, 1, 0.1, 1, 5e-4, 0};
    Numbers x = normal_values(rows * width, 1, random);
    for (std::int64_t i = 0; i < rows * width; ++i) x[i] *= kSizes[i / width % std::size(kSizes)];
    return x;
  }

  /// LayerNorm: the mean of a row is taken off first.
  static void add_mean(const Inputs& in, Mistakes& mistakes) {
    Numbers centred = in.x;
    const std::size_t width = in.weight.size();
    for (std::size_t row = 0; row < centred.size(); row += width) {
      double sum = 0;
      for (std::size_t i = 0; i < width; ++i) sum += centred[row + i];
      for (std::size_t i = 0; i < width; ++i) centred[row + i] -= sum / static_cast<double>(width);
    }
    Computed y = rmsnorm(centred, in.weight, in.epsilon);
    for (std::size_t i = 0; i < y.value.size(); ++i) {
      y.error[i] += 64 * kFloat32Unit * (std::abs(in.x[i]) + std::abs(y.value[i]));
    }
    mistakes.add("RL0461", "the mean of the row is subtracted: this is LayerNorm",
                 "RMSNorm divides by the root mean square and takes nothing off",
                 {stored("y", in.type, std::move(y))});
  }

  /// Each warp divides by the sum of the squares that its own lanes hold, or all by that of the
  /// first one. Lanes hold single elements, or vectors of as many as fit into 8 or 16 bytes.
  static void add_sums_of_warps(const Inputs& in, Mistakes& mistakes) {
    constexpr std::size_t kWarpSize = 32;
    constexpr std::size_t kMostElements = 1
                                          << 18;  // some forty references: small cases tell as well
    const std::size_t width = in.weight.size();
    if (in.x.size() > kMostElements) return;
    for (const std::size_t vector : {1, 2, 4, 8}) {
      const std::size_t part = kWarpSize * vector;
      if (part >= width) continue;
      for (const std::size_t threads : {64, 128, 256, 512, 1024}) {
        if (threads / 2 * vector >= width) break;  // the same as with half as many threads
        for (const bool first_alone : {false, true}) {
          const auto warp = [=](std::size_t i) {
            return first_alone ? 0 : i / vector % threads / kWarpSize;
          };
          const auto summed = [=](std::size_t i, std::size_t of_warp) {
            return i / vector % threads / kWarpSize == of_warp;
          };
          mistakes.add("RL0418",
                       first_alone ? "only the squares of the first warp's elements are summed up"
                                   : "each warp sums up the squares of its own elements alone",
                       "add the warps' sums up by way of shared memory, and let every warp read "
                       "the total",
                       {stored("y", in.type, normed_by_parts(in, warp, summed))});
        }
      }
    }
  }

  template <typename Warp, typename Summed>
  static Computed normed_by_parts(const Inputs& in, const Warp& warp, const Summed& summed) {
    const std::size_t width = in.weight.size();
    Computed y{Numbers(in.x.size()), Numbers(in.x.size())};
    for (std::size_t row = 0; row < in.x.size(); row += width) {
      std::map<std::size_t, double> sum_of;
      for (std::size_t i = 0; i < width; ++i) {
        const std::size_t of_warp = warp(i);
        if (sum_of.contains(of_warp)) continue;
        double sum = 0;
        for (std::size_t j = 0; j < width; ++j) {
          if (summed(j, of_warp)) sum += in.x[row + j] * in.x[row + j];
        }
        sum_of[of_warp] = sum;
      }
      for (std::size_t i = 0; i < width; ++i) {
        const double scale =
            inverse_root_mean_square(sum_of[warp(i)], static_cast<double>(width), in.epsilon);
        y.value[row + i] = in.x[row + i] * scale * (1 + in.weight[i]);
        y.error[row + i] = 64 * kFloat32Unit * std::abs(y.value[row + i]);
      }
    }
    return y;
  }

  /// The normalised x, the factor 1 + weight, or both are rounded to the storage type before they
  /// are multiplied.
  static void add_early_casts(const Inputs& in, Mistakes& mistakes) {
    if (in.type == ElementType::float32) return;
    Numbers factors;
    for (const double weight : in.weight) factors.push_back(rounded(in.type, 1 + weight));
    const Numbers zero(in.weight.size(), 0.0);  // 1 + 0: no factor
    const Computed normalised = rmsnorm(in.x, zero, in.epsilon);
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
