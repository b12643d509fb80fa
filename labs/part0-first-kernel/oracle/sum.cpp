#include <algorithm>
#include <cstddef>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/known_mistakes.h"
#include "labs/oracle_support/parameters.h"
#include "labs/part0-first-kernel/oracle/eighths.h"

namespace rooflab {
namespace {

/// result = the sum of x (n).
class SumOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const std::int64_t n = integer(parameters, "n");
    Random random(seed);
    return {parameters, {eighths("x", {n}, random), output("result", ElementType::float32, {1})}};
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return {sum(problem, [](std::size_t) { return true; })};
  }

  Work work(const Values& parameters) const override {
    const auto n = static_cast<double>(integer(parameters, "n"));
    return {{{"fp32", n - 1}}, sizeof(float) * (n + 1)};
  }

  /// The task is about sharing a sum out: sum.h asks for several blocks where there is work for
  /// them.
  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    constexpr std::int64_t kForSeveralBlocks = 4096;
    const auto& kernels = evidence.activity.kernels;
    const bool has_several = std::ranges::any_of(
        kernels, [](const simgpu::KernelRecord& kernel) { return kernel.grid.count() > 1; });
    if (!evidence.keeps_records || kernels.empty() || has_several ||
        integer(problem.parameters, "n") < kForSeveralBlocks) {
      return {};
    }
    return {{"RL0431", "the sum is right, but a single block adds it up",
             "give each block a part of x, and add up what the blocks have found"}};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    const std::size_t n = static_cast<std::size_t>(tensor(problem, "x").elements());
    Mistakes mistakes(expect(problem));
    for (const std::size_t block : {32, 64, 128, 256, 512, 1024}) {
      mistakes.add("RL0418", "only the first block's sum is in the result",
                   "each block has a sum of its own: add all of them up",
                   {sum(problem, [=](std::size_t i) { return i < block; })});
      mistakes.add("RL0418", "the elements after the last whole block are missing from the sum",
                   "round the number of blocks up, and let threads without an element add 0",
                   {sum(problem, [=](std::size_t i) { return i < n / block * block; })});
    }
    mistakes.add("RL0418", "the sums of every other thread of a block are missing",
                 "halve the distance down to and including 1: for (half = …; half > 0; half /= 2)",
                 {sum(problem, [](std::size_t i) { return i % 2 == 0; })});
    return mistakes.take();
  }

 private:
  /// Of the elements that `keep` takes.
  template <typename Keep>
  static Expected sum(const Problem& problem, Keep keep) {
    const auto x = floats(tensor(problem, "x"));
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += keep(i) ? x[i] : 0.0;
    return exactly("result", {sum});
  }
};

ROOFLAB_ORACLE("sum", SumOracle)

}  // namespace
}  // namespace rooflab
