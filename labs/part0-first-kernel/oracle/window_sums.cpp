#include <algorithm>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/known_mistakes.h"
#include "labs/oracle_support/parameters.h"
#include "labs/part0-first-kernel/oracle/eighths.h"

namespace rooflab {
namespace {

constexpr std::int64_t kRadius = 3;  ///< of interface/window_sums.h
constexpr std::int64_t kWindow = 2 * kRadius + 1;

/// y[i] = the sum of x from i - kRadius to i + kRadius, as far as x goes.
class WindowSumsOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const std::int64_t n = integer(parameters, "n");
    Random random(seed);
    return {parameters, {eighths("x", {n}, random), output("y", ElementType::float32, {n})}};
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return {sums(problem, -kRadius, kRadius)};
  }

  Work work(const Values& parameters) const override {
    const auto n = static_cast<double>(integer(parameters, "n"));
    return {{{"fp32", (kWindow - 1) * n}}, 2 * sizeof(float) * n};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    Mistakes mistakes(expect(problem));
    const char* const kAll =
        "a window has 2 * kRadius + 1 elements, from i - kRadius to i + kRadius";
    mistakes.add("RL0438", "the last element of each window is missing", kAll,
                 {sums(problem, -kRadius, kRadius - 1)});
    mistakes.add("RL0438", "the first element of each window is missing", kAll,
                 {sums(problem, 1 - kRadius, kRadius)});
    for (const std::int64_t block : {32, 64, 128, 256, 512, 1024}) {
      mistakes.add("RL0438", "windows end at the edge of their block: the halo is missing",
                   "the first windows of a block need kRadius elements before its own, the last "
                   "ones as many after them; they are 0 only where x ends",
                   {sums(problem, -kRadius, kRadius, block)});
    }
    return mistakes.take();
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    if (!judges_structure(problem.parameters) || !evidence.keeps_records) return {};
    const auto n = static_cast<double>(integer(problem.parameters, "n"));
    const double loaded = floats_loaded(evidence);
    constexpr double kMostLoads = 2;  // of an element: its block's, and a neighbour's for its halo
    if (loaded <= kMostLoads * n) return {};
    return {{"RL0431",
             "each element is loaded from global memory for several windows" +
                 Evidence{message("; ", loaded, " loads for ", n, " elements")},
             "let the block load its elements and the halo into a __shared__ array, once, and add "
             "from there"}};
  }

 private:
  /// Sums of x[i + first] … x[i + last], by differences of running totals; with `block`, what lies
  /// in another block of so many elements counts as 0.
  static Expected sums(const Problem& problem, std::int64_t first, std::int64_t last,
                       std::int64_t block = 0) {
    const auto x = floats(tensor(problem, "x"));
    const auto n = static_cast<std::int64_t>(x.size());
    std::vector<double> totals(x.size() + 1, 0.0), y(x.size());
    for (std::int64_t i = 0; i < n; ++i) totals[i + 1] = totals[i] + x[i];
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t least = block == 0 ? 0 : i / block * block;
      const std::int64_t most = block == 0 ? n : std::min(n, least + block);
      const std::int64_t from = std::clamp(i + first, least, most);
      const std::int64_t to = std::clamp(i + last + 1, from, std::max(from, most));
      y[i] = totals[to] - totals[from];
    }
    return exactly("y", std::move(y));
  }
};

ROOFLAB_ORACLE("window_sums", WindowSumsOracle)

}  // namespace
}  // namespace rooflab
