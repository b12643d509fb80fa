#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

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
constexpr double kTensorCoreUnit = 0x1p-23;  // an ulp: tensor cores truncate

/// scores (32, 32) = scale * q (32, 64) k (32, 64)^T, with q and k of one type.
class ScoresOracle : public Oracle {
 public:
  /// `unit` is the rounding error of each addition of two products.
  ScoresOracle(ElementType type, std::string peak, double unit)
      : type_(type), peak_(std::move(peak)), unit_(unit) {}

  Problem make(const Values& parameters, std::uint64_t seed) const override {
    Problem problem{parameters, {}};
    Random random(seed);
    const double scale = draw_attention_scale(problem.parameters, "scale", kHeadDim, seed);
    const double spread = 2 / (scale * std::sqrt(static_cast<double>(kHeadDim)));
    for (const auto& [name, deviation] : {std::pair{"q", spread}, {"k", 1.0}}) {
      problem.tensors.push_back(
          random_tensor(name, type_, Role::input, {kTile, kHeadDim}, deviation, random));
    }
    problem.tensors.push_back(output("scores", ElementType::float32, {kTile, kTile}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return {scores_of(problem, Rule{.scale = real(problem.parameters, "scale")})};
  }

  Work work(const Values&) const override {
    constexpr double kProducts = kTile * kTile * kHeadDim;
    constexpr double kInputs = 2 * kTile * kHeadDim;
    constexpr double kScores = kTile * kTile;
    return {{{peak_, 2 * kProducts}},
            static_cast<double>(size_of(type_)) * kInputs + sizeof(float) * kScores};
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
    const bool is_both = std::abs(scale * scale * depth - 1) < 1e-6;
    add("RL0475",
        is_both ? "scores are multiplied by 1 / head_dim: that is the square of the scale"
                : "scores are multiplied by the square of the scale: twice",
        kScale, {.scale = scale * scale});
    add("RL0475", "scores are divided by the scale instead of multiplied", kScale,
        {.scale = 1 / scale});
    add("RL0414", "the scores are stored as if they were transposed",
        "row i of the scores belongs to query i, column j to key j",
        {.scale = scale, .swaps_output = true});
    add("RL0412", "k is read as if it were transposed already",
        "element d of key j is k[j * 64 + d]: a score is the dot product of a row of q and a row "
        "of k",
        {.scale = scale, .transposes_keys = true});
    if (type_ != ElementType::float32) {
      add("RL0412", "the fragments of the keys are not transposed",
          "a key is a row of its tile and a column of k^T: load it with load_b_transposed",
          {.scale = scale, .transposes_blocks = true});
    }
    for (const std::int64_t columns : {kHeadDim - 1, kHeadDim / 2}) {
      add("RL0417",
          columns == kTile ? "only the first 32 columns of q and k are in the sums"
                           : "the last column of q and k is not in the sums",
          type_ == ElementType::float32 ? "a row has 64 numbers, and the block 32 threads for each "
                                          "row: let every thread load "
                                          "two"
                                        : "a row has 64 numbers, four steps of 16",
          {.scale = scale, .columns = columns});
    }
    return mistakes.take();
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    if (!judges_structure(problem.parameters) || !evidence.keeps_records) return {};
    return complaints_of_structure(problem, evidence);
  }

 protected:
  virtual std::vector<Complaint> complaints_of_structure(const Problem& problem,
                                                         const CallEvidence& evidence) const = 0;

 private:
  /// How scores come about. The defaults are right.
  struct Rule {
    double scale = 1;
    std::int64_t columns = kHeadDim;  ///< that are summed
    bool transposes_keys = false;
    bool transposes_blocks = false;  ///< those of 16 x 16 of the keys
    bool swaps_output = false;
  };

  Expected scores_of(const Problem& problem, const Rule& rule) const {
    const Numbers q = widened(problem, "q");
    Numbers k = widened(problem, "k");
    if (rule.transposes_blocks) {
      k = with_transposed_blocks({1, 1, 1, kTile, kTile, kHeadDim}, k);
    }
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
        scores.error.push_back(std::abs(rule.scale) * (sum_tolerance(kHeadDim, unit_, norms) +
                                                       kRoundings * kFloat32Unit * std::abs(sum)));
      }
    }
    return stored("scores", ElementType::float32, std::move(scores));
  }

  ElementType type_;
  std::string peak_;
  double unit_;
};

/// In fp32, from tiles in shared memory.
class TiledScoresOracle : public ScoresOracle {
 public:
  TiledScoresOracle() : ScoresOracle(ElementType::float32, "fp32", kFloat32Unit) {}

 protected:
  /// Each element is loaded once where both tiles are in shared memory, and 32 times where they are
  /// not.
  std::vector<Complaint> complaints_of_structure(const Problem&,
                                                 const CallEvidence& evidence) const override {
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
};

/// In half precision, on tensor cores.
class MmaScoresOracle : public ScoresOracle {
 public:
  MmaScoresOracle() : ScoresOracle(ElementType::float16, "fp16_tensor", kTensorCoreUnit) {}

 protected:
  std::vector<Complaint> complaints_of_structure(const Problem& problem,
                                                 const CallEvidence& evidence) const override {
    const auto complaint = complaint_without_tensor_cores(work(problem.parameters), evidence);
    return complaint ? std::vector{*complaint} : std::vector<Complaint>();
  }
};

/// Attention whose cases name only what the step varies: one sequence, one head of 64 elements, no
/// mask and a tile of keys otherwise.
class StepOracle : public AttentionOracle {
 public:
  explicit StepOracle(std::string type = "float") : AttentionOracle(true), type_(std::move(type)) {}

  Problem make(const Values& parameters, std::uint64_t seed) const override {
    return AttentionOracle::make(completed(parameters), seed);
  }
  Work work(const Values& parameters) const override {
    return AttentionOracle::work(completed(parameters));
  }
  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    std::vector<KnownMistake> known = AttentionOracle::mistakes(problem);
    const auto append = [&](std::vector<KnownMistake> mistakes) {
      for (KnownMistake& mistake : mistakes) known.push_back(std::move(mistake));
    };
    const AttentionCase c = read(problem.parameters);
    if (!c.mask.causal && c.shape.key_length >= kTile) append(mistakes_of_sums(c, problem));
    if (c.type != ElementType::float32) append(mistakes_of_fragments(problem));
    return known;
  }

 private:
  std::vector<KnownMistake> mistakes_of_sums(const AttentionCase& c, const Problem& problem) const {
    Mistakes mistakes(expect(problem));
    const bool is_fragment = c.type != ElementType::float32;
    mistakes.add(
        "RL0482",
        "each lane of a warp divides by the weights that it has summed itself, not by those "
        "of the whole row",
        "add the sums of all lanes that share a row, as warp_sum of warp.h does",
        with_sums_of_lanes(c, problem, is_fragment ? RowLanes{4, 2} : RowLanes{kTile, 1}));
    if (is_fragment) {
      mistakes.add(
          "RL0482", "both rows of a lane are divided by the sum of the first one",
          "value[0] and value[1] of a fragment belong to the lane's first row, value[2] and "
          "value[3] to the row 8 below: each has a sum of its own",
          with_sums_of_first_rows(c, problem));
    }
    return mistakes.take();
  }

  /// A lane stores the columns of out that it has the keys of; lane 0 stores the log-sum-exp.
  static std::vector<Expected> with_sums_of_lanes(const AttentionCase& c, const Problem& problem,
                                                  const RowLanes& lanes) {
    std::vector<Expected> all;
    for (std::int64_t lane = 0; lane < lanes.count; ++lane) {
      AttentionRule rule = c.rule();
      rule.softmax = sum_of_lane(lanes, lane);
      const std::vector<Expected> of_lane = c.expected(problem, rule);
      if (lane == 0) all = of_lane;
      for (std::size_t i = 0; i < all[0].value.size(); ++i) {
        if (lanes.owner(static_cast<std::int64_t>(i) % kHeadDim) != lane) continue;
        all[0].value[i] = of_lane[0].value[i];
        all[0].tolerance[i] = of_lane[0].tolerance[i];
      }
    }
    return all;
  }

  /// Of 16 rows, the last 8 have the sums of the first 8.
  static std::vector<Expected> with_sums_of_first_rows(const AttentionCase& c,
                                                       const Problem& problem) {
    constexpr std::int64_t kRows = 8;
    std::map<std::int64_t, double> sums;
    AttentionRule rule = c.rule();
    rule.softmax = [&](const Scores& scores) {
      Softmax softmax = right_softmax(scores);
      sums[scores.query] = softmax.divisor;
      return softmax;
    };
    c.expected(problem, rule);
    rule.softmax = [&](const Scores& scores) {
      Softmax softmax = right_softmax(scores);
      const bool is_second = scores.query % (2 * kRows) >= kRows;
      softmax.divisor = sums.at(scores.query - (is_second ? kRows : 0));
      return softmax;
    };
    return c.expected(problem, rule);
  }

  Values completed(Values parameters) const {
    for (const char* name : {"batch", "query_heads", "key_value_heads"}) {
      parameters.try_emplace(name, std::int64_t{1});
    }
    parameters.try_emplace("key_length", kTile);
    parameters.try_emplace("head_dim", kHeadDim);
    parameters.try_emplace("causal", std::int64_t{0});
    parameters.try_emplace("type", type_);
    return parameters;
  }

  std::string type_;
};

/// The same in half precision, on tensor cores.
class MmaStepOracle : public StepOracle {
 public:
  MmaStepOracle() : StepOracle("half") {}

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    if (!judges_structure(problem.parameters) || !evidence.keeps_records) return {};
    const auto complaint = complaint_without_tensor_cores(work(problem.parameters), evidence);
    return complaint ? std::vector{*complaint} : std::vector<Complaint>();
  }
};

ROOFLAB_ORACLE("flash_scores", TiledScoresOracle)
ROOFLAB_ORACLE("flash_mma_scores", MmaScoresOracle)
ROOFLAB_ORACLE("flash_step", StepOracle)
ROOFLAB_ORACLE("flash_mma_step", MmaStepOracle)

}  // namespace
}  // namespace rooflab
