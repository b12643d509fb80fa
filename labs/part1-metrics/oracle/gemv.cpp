#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/rounding.h"
#include "labs/oracle_support/selection.h"
#include "labs/part1-metrics/oracle/tensors.h"

namespace rooflab {
namespace {

/// y (m) = A (m, k) x (k).
class GemvOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const std::int64_t m = integer(parameters, "m");
    const std::int64_t k = integer(parameters, "k");
    Random random(seed);
    Problem problem{parameters, {}};
    problem.vast = is_vast(parameters);
    constexpr ElementType kType = ElementType::float32;
    problem.tensors.push_back(
        problem.vast ? repeated(random_input("A", kType, {vast_period(kType)}, random), m * k)
                     : random_input("A", kType, {m, k}, random));
    Tensor x = random_input("x", kType, {k}, random);
    problem.tensors.push_back(problem.vast ? in_whole_pages(std::move(x)) : std::move(x));
    problem.tensors.push_back(output("y", ElementType::float32, {m}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    if (problem.vast) return {some_sums(problem)};
    const Inputs in = inputs(problem);
    return {{"y", in.sums([](std::int64_t) { return true; }), in.tolerance()}};
  }

  Work work(const Values& parameters) const override {
    const auto m = static_cast<double>(integer(parameters, "m"));
    const auto k = static_cast<double>(integer(parameters, "k"));
    return {{{"fp32", 2 * m * k}}, sizeof(float) * (m * k + k + m)};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    if (problem.vast) return {};  // other cases know them
    const Inputs in = inputs(problem);
    std::vector<KnownMistake> mistakes;
    const std::vector<double> bounds = in.tolerance();
    const auto add = [&](Code code, const char* cause, const char* advice,
                         std::vector<double> values) {
      mistakes.push_back({code, cause, advice, {{"y", std::move(values), bounds}}});
    };
    add("RL0411", "A is read as if it were transposed",
        "element (row, k) of A is at row * K + k: the elements of a row are neighbours",
        in.transposed());
    for (const std::int64_t width : {4, 32, 128}) {
      const std::int64_t whole = in.k / width * width;
      if (whole == 0 || whole == in.k) continue;
      add("RL0413", "the last elements of each row are missing from the sums",
          "K need not be a multiple of the elements that a warp takes at once",
          in.sums([=](std::int64_t k) { return k < whole; }));
    }
    for (const std::int64_t width : {1, 4}) add_lost_lanes(in, width, add);
    add("RL0410", "y holds only zeros",
        "does the sum reach y, and does the loop over k run at all?",
        std::vector<double>(bounds.size(), 0.0));
    return mistakes;
  }

 private:
  static constexpr std::int64_t kWarpSize = 32;

  /// The sums of some rows of a matrix that is not there as a whole.
  static Expected some_sums(const Problem& problem) {
    constexpr std::int64_t kMostRows = 400;
    const std::int64_t k = integer(problem.parameters, "k");
    const std::vector<double> x = widened(problem, "x");
    Expected y{"y", {}, {}, {}};
    for (const std::int64_t row : selected_rows(problem, "y", 1, kMostRows)) {
      const std::vector<double> a = widened(tensor(problem, "A"), elements_of_rows({row}, k));
      const auto dot = [](const std::vector<double>& u, const std::vector<double>& v) {
        return std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
      };
      y.index.push_back(static_cast<std::size_t>(row));
      y.value.push_back(dot(a, x));
      y.tolerance.push_back(sum_tolerance(k, kFloat32Unit, std::sqrt(dot(a, a) * dot(x, x))));
    }
    return y;
  }

  struct Inputs {
    std::int64_t m, k;
    std::span<const float> a, x;

    /// Row sums in fp64 over the k that `keep` takes.
    std::vector<double> sums(const std::function<bool(std::int64_t)>& keep) const {
      std::vector<double> kept_x(x.size());
      for (std::int64_t l = 0; l < k; ++l) kept_x[l] = keep(l) ? x[l] : 0.0;
      std::vector<double> y(static_cast<std::size_t>(m), 0.0);
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t l = 0; l < k; ++l) y[i] += static_cast<double>(a[i * k + l]) * kept_x[l];
      }
      return y;
    }

    std::vector<double> transposed() const {
      std::vector<double> y(static_cast<std::size_t>(m), 0.0);
      for (std::int64_t l = 0; l < k; ++l) {
        for (std::int64_t i = 0; i < m; ++i) y[i] += static_cast<double>(a[l * m + i]) * x[l];
      }
      return y;
    }

    std::vector<double> tolerance() const {
      const auto norm = [](std::span<const float> values) {
        double squares = 0;
        for (const float v : values) squares += static_cast<double>(v) * v;
        return std::sqrt(squares);
      };
      const double norm_x = norm(x);
      std::vector<double> bounds;
      for (std::int64_t i = 0; i < m; ++i) {
        const double norm_a = norm(a.subspan(static_cast<std::size_t>(i * k), x.size()));
        bounds.push_back(sum_tolerance(k, kFloat32Unit, norm_a * norm_x));
      }
      return bounds;
    }
  };

  static Inputs inputs(const Problem& problem) {
    return {integer(problem.parameters, "m"), integer(problem.parameters, "k"),
            floats(tensor(problem, "A")), floats(tensor(problem, "x"))};
  }

  /// Reductions that stop early: `width` neighbouring elements go to one lane.
  template <typename Add>
  static void add_lost_lanes(const Inputs& in, std::int64_t width, const Add& add) {
    const auto lane = [=](std::int64_t k) { return k / width % kWarpSize; };
    const auto lose = [&](const std::function<bool(std::int64_t)>& keep_lane) {
      add("RL0418", "the partial sums of some lanes are missing from y",
          "halve the distance of the shuffle from 16 down to 1, which still counts; then lane 0 "
          "has "
          "the whole sum",
          in.sums([&](std::int64_t k) { return keep_lane(lane(k)); }));
    };
    lose([](std::int64_t l) { return l == 0; });
    lose([](std::int64_t l) { return l % 2 == 0; });
    lose([](std::int64_t l) { return l < kWarpSize / 2; });
  }
};

ROOFLAB_ORACLE("gemv", GemvOracle)

}  // namespace
}  // namespace rooflab
