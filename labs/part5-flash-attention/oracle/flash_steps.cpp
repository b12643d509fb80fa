#include <algorithm>
#include <cmath>

#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/known_mistakes.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/tensors.h"
#include "labs/part5-flash-attention/oracle/attention_oracle.h"
#include "labs/part5-flash-attention/oracle/wrong_softmax.h"

/// The steps of the ladder that leads to flash_forward.
namespace rooflab {
namespace {

constexpr std::int64_t kTile = 32;
constexpr std::int64_t kHeadDim = 64;

/// scores (32, 32) = scale * q (32, 64) k (32, 64)^T.
class ScoresOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    Problem problem{parameters, {}};
    Random random(seed);
    const double scale = draw_attention_scale(problem.parameters, "scale", kHeadDim, seed);
    const double spread = 2 / (scale * std::sqrt(static_cast<double>(kHeadDim)));
    for (const auto& [name, deviation] : {std::pair{"q", spread}, {"k", 1.0}}) {
      problem.tensors.push_back(random_tensor(name, ElementType::float32, Role::input,
                                              {kTile, kHeadDim}, deviation, random));
    }
    problem.tensors.push_back(output("scores", ElementType::float32, {kTile, kTile}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return {scores_of(problem, Rule{.scale = real(problem.parameters, "scale")})};
  }

  Work work(const Values&) const override {
    constexpr double kProducts = kTile * kTile * kHeadDim;
    constexpr double kElements = 2 * kTile * kHeadDim + kTile * kTile;
    return {{{"fp32", 2 * kProducts}}, sizeof(float) * kElements};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    const double scale = real(problem.parameters, "scale");
    Mistakes mistakes(expect(problem));
    const auto add = [&](Code code, const char* cause, const char* advice, const Rule& rule) {
      mistakes.add(code, cause, advice, {scores_of(problem, rule)});
    };
    constexpr const char* kScale = "multiply each dot product of q and k by `scale`, once";
    const double depth = kHeadDim;
    add("RL0475", "scores are not scaled", kScale, {.scale = 1});
    add("RL0475", "scores are multiplied by 1 / sqrt(head_dim) instead of by the scale", kScale,
        {.scale = 1 / std::sqrt(depth)});
    add("RL0475", "scores are multiplied by the square of the scale: twice", kScale,
        {.scale = scale * scale});
    add("RL0475", "scores are divided by the scale instead of multiplied", kScale,
        {.scale = 1 / scale});
    add("RL0414", "the scores are stored as if they were transposed",
        "row i of the scores belongs to query i, column j to key j",
        {.scale = scale, .swaps_output = true});
    add("RL0412", "k is read as if it were transposed already",
        "element d of key j is k[j * 64 + d]: a score is the dot product of a row of q and a row "
        "of k",
        {.scale = scale, .transposes_keys = true});
    for (const std::int64_t columns : {kHeadDim - 1, kHeadDim / 2}) {
      add("RL0417",
          columns == kTile ? "only the first 32 columns of q and k are in the sums"
                           : "the last column of q and k is not in the sums",
          "a row has 64 numbers, and the block 32 threads for each row: let every thread load two",
          {.scale = scale, .columns = columns});
    }
    return mistakes.take();
  }

  /// Each element is loaded once where both tiles are in shared memory, and 32 times where they are
  /// not.
  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    if (!judges_structure(problem.parameters) || !evidence.keeps_records) return {};
    constexpr double kLoadsOfAll = 2 * kTile * kHeadDim;
    constexpr double kMostLoads = 2;  // of each element
    const double loads = floats_loaded(evidence);
    if (loads <= kMostLoads * kLoadsOfAll) return {};
    return {{"RL0431",
             "global memory is read as if there were no tiles" +
                 Evidence{message(": each element of q and k is loaded ",
                                  std::round(loads / kLoadsOfAll), " times")},
             "copy both tiles to __shared__ arrays first, each element once, wait at "
             "__syncthreads(), and multiply from there"}};
  }

 private:
  /// How scores come about. The defaults are right.
  struct Rule {
    double scale = 1;
    std::int64_t columns = kHeadDim;  ///< that are summed
    bool transposes_keys = false;
    bool swaps_output = false;
  };

  static Expected scores_of(const Problem& problem, const Rule& rule) {
    const Numbers q = widened(problem, "q"), k = widened(problem, "k");
    Computed scores;
    for (std::int64_t row = 0; row < kTile; ++row) {
      for (std::int64_t column = 0; column < kTile; ++column) {
        const std::int64_t i = rule.swaps_output ? column : row;
        const std::int64_t j = rule.swaps_output ? row : column;
        double sum = 0, squares_of_q = 0, squares_of_k = 0;
        for (std::int64_t d = 0; d < rule.columns; ++d) {
          const double a = q[static_cast<std::size_t>(i * kHeadDim + d)];
          const double b =
              k[static_cast<std::size_t>(rule.transposes_keys ? d * kTile + j : j * kHeadDim + d)];
          sum += a * b;
          squares_of_q += a * a;
          squares_of_k += b * b;
        }
        const double norms = std::sqrt(squares_of_q * squares_of_k);
        constexpr double kRoundings = 2;  // of the scale and of the product with it
        scores.value.push_back(rule.scale * sum);
        scores.error.push_back(std::abs(rule.scale) *
                               (sum_tolerance(kHeadDim, kFloat32Unit, norms) +
                                kRoundings * kFloat32Unit * std::abs(sum)));
      }
    }
    return stored("scores", ElementType::float32, std::move(scores));
  }
};

/// Attention in fp32 whose cases name only what the step varies: one sequence, one head of 64
/// elements, no mask and a tile of keys otherwise.
class StepOracle : public AttentionOracle {
 public:
  StepOracle() : AttentionOracle(true) {}

  Problem make(const Values& parameters, std::uint64_t seed) const override {
    return AttentionOracle::make(completed(parameters), seed);
  }
  Work work(const Values& parameters) const override {
    return AttentionOracle::work(completed(parameters));
  }
  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    std::vector<KnownMistake> known = AttentionOracle::mistakes(problem);
    const AttentionCase c = read(problem.parameters);
    if (c.mask.causal || c.shape.key_length < kTile) return known;
    Mistakes of_lanes(expect(problem));
    of_lanes.add(
        "RL0482",
        "each lane of a warp divides by the weights that it has summed itself, not by those "
        "of the whole row",
        "add the sums of all lanes that share a row, as warp_sum of warp.h does",
        with_sums_of_lanes(c, problem));
    for (KnownMistake& mistake : of_lanes.take()) known.push_back(std::move(mistake));
    return known;
  }

 private:
  /// A lane has every 32nd key, and stores every 32nd column of out; lane 0 stores the log-sum-exp.
  static std::vector<Expected> with_sums_of_lanes(const AttentionCase& c, const Problem& problem) {
    std::vector<Expected> all;
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      AttentionRule rule = c.rule();
      rule.softmax = sum_of_lane(lane);
      const std::vector<Expected> of_lane = c.expected(problem, rule);
      if (lane == 0) all = of_lane;
      for (auto i = static_cast<std::size_t>(lane); i < all[0].value.size(); i += kTile) {
        all[0].value[i] = of_lane[0].value[i];
        all[0].tolerance[i] = of_lane[0].tolerance[i];
      }
    }
    return all;
  }

  static Values completed(Values parameters) {
    for (const char* name : {"batch", "query_heads", "key_value_heads"}) {
      parameters.try_emplace(name, std::int64_t{1});
    }
    parameters.try_emplace("key_length", kTile);
    parameters.try_emplace("head_dim", kHeadDim);
    parameters.try_emplace("causal", std::int64_t{0});
    parameters.try_emplace("type", std::string("float"));
    return parameters;
  }
};

ROOFLAB_ORACLE("flash_scores", ScoresOracle)
ROOFLAB_ORACLE("flash_step", StepOracle)

}  // namespace
}  // namespace rooflab
