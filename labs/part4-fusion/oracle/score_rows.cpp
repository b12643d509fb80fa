#include <cblas.h>

#include <cmath>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/known_mistakes.h"
#include "labs/oracle_support/lent.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/rounding.h"
#include "labs/oracle_support/tensors.h"

namespace rooflab {
namespace {

using Numbers = std::vector<double>;

/// scores (rows) = tanh(mean over width of (x weight^T) * reference), with x (rows, hidden), weight
/// (width, hidden) and reference (rows, width). Every case also asks for the kernels of the call:
/// the file that is handed out gives the right scores.
class ScoreRowsOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    Problem problem{parameters, {}};
    const Sizes sizes = sizes_of(parameters);
    Random random(seed);
    const auto add = [&](const char* name, std::int64_t rows, std::int64_t columns, double size) {
      problem.tensors.push_back(
          random_tensor(name, ElementType::float32, Role::input, {rows, columns}, size, random));
    };
    // Scores of all sizes: means have about this deviation, where tanh is no longer its argument.
    constexpr double kMeans = 1.5;
    add("x", sizes.rows, sizes.hidden, 1);
    add("weight", sizes.width, sizes.hidden, 1 / std::sqrt(static_cast<double>(sizes.hidden)));
    add("reference", sizes.rows, sizes.width, kMeans * std::sqrt(static_cast<double>(sizes.width)));
    problem.tensors.push_back(output("scores", ElementType::float32, {sizes.rows}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return {scores_of(problem, {})};
  }

  Work work(const Values& parameters) const override {
    const Sizes sizes = sizes_of(parameters);
    const auto rows = static_cast<double>(sizes.rows), hidden = static_cast<double>(sizes.hidden),
               width = static_cast<double>(sizes.width);
    return {{{"fp32", 2 * rows * width * (hidden + 1)}},
            sizeof(float) * (rows * hidden + width * hidden + rows * width + rows)};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    const auto width = static_cast<double>(sizes_of(problem.parameters).width);
    Mistakes mistakes(expect(problem));
    const auto add = [&](Code code, const char* cause, const char* advice, const Rule& rule) {
      mistakes.add(code, cause, advice, {scores_of(problem, rule)});
    };
    constexpr const char* kLines = "scores[r] = tanh(means[r])";
    add("RL0498", "tanh is missing: the scores are the means", kLines, {.activates = false});
    add("RL0498", "tanh is taken of each element of matched, not of their mean", kLines,
        {.activates_elements = true});
    add("RL0406", "rows of matched are summed up and not divided by their width",
        "means[r] is the mean of row r: divide its sum by width", {.divisor = 1 / width});
    constexpr std::int64_t kWarp = 32;
    for (const std::int64_t vector : {1, 4}) {
      add("RL0418", "a score is what the first thread has of its row",
          "add up the sums of all threads that share a row, as block_sum of common.cuh does",
          {.threads = kWarp, .of_first = 1, .vector = vector});
      for (const std::int64_t threads : {64, 128, 256}) {
        add("RL0418", "a score is what the first warp of the block has of its row",
            "add up the sums of all warps that share a row, as block_sum of common.cuh does",
            {.threads = threads, .of_first = kWarp, .vector = vector});
      }
    }
    return mistakes.take();
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    if (!evidence.keeps_records) return {};
    const Sizes sizes = sizes_of(problem.parameters);
    constexpr double kOthers = 16;  // numbers of each row, as score_rows.h says
    const auto rows = static_cast<double>(sizes.rows),
               array = rows * static_cast<double>(sizes.width);
    double stored = 0;
    for (const simgpu::KernelRecord& kernel : evidence.activity.kernels) {
      stored += static_cast<double>(kernel.counters.global_store_bytes) +
                static_cast<double>(kernel.counters.global_atomic_bytes);
    }
    stored /= sizeof(float);
    if (stored > 1.5 * array + kOthers * rows) {
      return {
          {"RL0497",
           "an array that only the next kernel reads goes to memory and back" +
               Evidence{
                   message(": kernels store ", stored, " numbers, and (rows, width) are ", array)},
           "export a trace: of two long neighbours, let one kernel do the work of both, so that "
           "what lies between them stays in registers"}};
    }
    constexpr std::size_t kMostKernels = 3;
    if (evidence.activity.kernels.size() > kMostKernels) {
      return {{"RL0497",
               "as many kernels as before" +
                   Evidence{message(": a call launches ", evidence.activity.kernels.size(),
                                    ", and two that are joined leave ", kMostKernels)},
               "join two neighbours of the trace in one kernel"}};
    }
    return complaints_of_lent(evidence);
  }

 private:
  struct Sizes {
    std::int64_t rows, hidden, width;
  };

  static Sizes sizes_of(const Values& parameters) {
    return {integer(parameters, "rows"), integer(parameters, "hidden"),
            integer(parameters, "width")};
  }

  /// How scores come about. The defaults are right.
  struct Rule {
    bool activates = true;
    bool activates_elements = false;
    double divisor = 1;  ///< over the width
    // Which elements are in the sum: those of the first of so many threads, each of which takes
    // `vector` neighbours at a time.
    std::int64_t threads = 1, of_first = 1, vector = 1;
  };

  static Expected scores_of(const Problem& problem, const Rule& rule) {
    const Sizes sizes = sizes_of(problem.parameters);
    const Numbers x = widened(problem, "x"), weight = widened(problem, "weight"),
                  reference = widened(problem, "reference");
    Numbers projected(static_cast<std::size_t>(sizes.rows * sizes.width));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(sizes.rows),
                static_cast<int>(sizes.width), static_cast<int>(sizes.hidden), 1.0, x.data(),
                static_cast<int>(sizes.hidden), weight.data(), static_cast<int>(sizes.hidden), 0.0,
                projected.data(), static_cast<int>(sizes.width));
    const double width = static_cast<double>(sizes.width);
    Computed scores;
    for (std::int64_t row = 0; row < sizes.rows; ++row) {
      double sum = 0, magnitude = 0, of_x = 0;
      for (std::int64_t k = 0; k < sizes.hidden; ++k) {
        const double value = x[static_cast<std::size_t>(row * sizes.hidden + k)];
        of_x += value * value;
      }
      for (std::int64_t i = 0; i < sizes.width; ++i) {
        const auto place = static_cast<std::size_t>(row * sizes.width + i);
        const double matched = projected[place] * reference[place];
        magnitude += std::abs(matched) + std::sqrt(of_x / static_cast<double>(sizes.hidden)) *
                                             std::abs(reference[place]);
        if (i / rule.vector % rule.threads >= rule.of_first) continue;
        sum += rule.activates_elements ? std::tanh(matched) : matched;
      }
      const double mean = sum / width / rule.divisor;
      // Sums over hidden, then over width; both are means of numbers of this magnitude.
      const double error = (sum_tolerance(sizes.hidden, kFloat32Unit, magnitude / width) * 4 +
                            sum_tolerance(sizes.width, kFloat32Unit, magnitude / width)) /
                           rule.divisor;
      constexpr double kRoundings = 4;  // of the division and of tanhf
      const bool is_tanh = rule.activates && !rule.activates_elements;
      const double score = is_tanh ? std::tanh(mean) : mean;
      scores.value.push_back(score);
      scores.error.push_back(error + kRoundings * kFloat32Unit * std::abs(score));
    }
    return stored("scores", ElementType::float32, std::move(scores));
  }
};

ROOFLAB_ORACLE("score_rows", ScoreRowsOracle)

}  // namespace
}  // namespace rooflab
