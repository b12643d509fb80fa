#include "labs/part5-flash-attention/oracle/attention_mistakes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "labs/oracle_support/tensors.h"
#include "labs/part5-flash-attention/oracle/wrong_softmax.h"

namespace rooflab {
namespace {

/// Tiles that kernels commonly have; 1 is a loop over keys.
constexpr std::array<std::int64_t, 6> kTiles{1, 8, 16, 32, 64, 128};

/// (batch, heads, length, depth) read as if it were (batch, length, heads, depth).
Numbers tokens_before_heads(const Numbers& x, std::int64_t batch, std::int64_t heads,
                            std::int64_t length, std::int64_t depth) {
  Numbers read(x.size());
  for (std::int64_t row = 0; row < batch * heads * length; ++row) {
    const std::int64_t token = row % length;
    const std::int64_t head = row / length % heads;
    const std::int64_t from = (row / length / heads * length + token) * heads + head;
    std::copy_n(x.begin() + from * depth, depth, read.begin() + row * depth);
  }
  return read;
}

}  // namespace

AttentionMistakes::AttentionMistakes(const AttentionCase& c, const Problem& problem)
    : case_(c), problem_(problem), right_(c.expected(problem, c.rule())), mistakes_(right_) {}

void AttentionMistakes::add_wrong_scales() {
  const double scale = case_.scale;
  const auto depth = static_cast<double>(case_.shape.head_dim);
  const auto with = [&](const char* cause, double wrong) {
    add("RL0475", cause, "multiply each dot product of q and k by `scale`, once",
        [=](AttentionRule& rule) { rule.scale = wrong; });
  };
  with("scores are not scaled", 1);
  with("scores are multiplied by 1 / sqrt(head_dim) instead of by the scale", 1 / std::sqrt(depth));
  // Where the scale is 1 / sqrt(head_dim), its square is 1 / head_dim: nobody can tell which it
  // was.
  const bool is_both = std::abs(scale * scale * depth - 1) < 1e-6;
  with(is_both ? "scores are multiplied by 1 / head_dim: that is the square of the scale"
               : "scores are multiplied by the square of the scale: twice",
       scale * scale);
  with("scores are multiplied by 1 / head_dim", 1 / depth);
  with("scores are divided by the scale instead of multiplied", 1 / scale);
  with("scores are scaled by its root", std::sqrt(scale));
  constexpr double kLn2 = 0.6931471805599453;
  add("RL0527", "weights are powers of 2 instead of powers of e",
      "exp(x) = exp2(x * log2(e)): multiply the scores by log2(e) before exp2f, once",
      [=](AttentionRule& rule) { rule.scale = scale * kLn2; });
  add("RL0527", "scores are multiplied by log2(e), and then expf takes them",
      "log2(e) belongs to exp2f alone: expf takes the scores as they are",
      [=](AttentionRule& rule) { rule.scale = scale / kLn2; });
}

void AttentionMistakes::add_wrong_masks() {
  const AttentionShape& s = case_.shape;
  const Mask mask = case_.mask;
  const std::int64_t end = s.key_length - 1;
  const auto with = [&](Code code, const char* cause, const char* advice, auto keys) {
    add(code, cause, advice, [&](AttentionRule& rule) { rule.keys = keys; });
  };
  if (!mask.causal) {
    with("RL0478", "queries see no keys that come after them, though the case is not causal",
         "without `causal`, every query sees every key", [=](std::int64_t i) {
           return Mask{true, 0}.keys(i, s);
         });
    return;
  }
  const auto from = [=](std::int64_t last) {
    return mask.window > 0 ? std::max<std::int64_t>(0, last - mask.window + 1) : 0;
  };
  constexpr const char* kCausal = "query i sees key j if j <= i + key_length - query_length";
  with("RL0478", "queries see keys that come after them", kCausal, [=](std::int64_t i) {
    return KeyRange{mask.keys(i, s).first, end};
  });
  with("RL0478", "queries see the key that comes after them", kCausal, [=](std::int64_t i) {
    return KeyRange{mask.keys(i, s).first, std::min(mask.keys(i, s).last + 1, end)};
  });
  with("RL0478", "queries do not see their own key", kCausal, [=](std::int64_t i) {
    return KeyRange{mask.keys(i, s).first, mask.keys(i, s).last - 1};
  });
  with("RL0479", "the mask starts with key 0 at the first query of the call",
       "the queries are the newest tokens: query i stands at i + key_length - query_length",
       [=](std::int64_t i) {
         return KeyRange{from(i), std::min(i, end)};
       });
}

void AttentionMistakes::add_masks_of_first_warp() {
  if (!case_.mask.causal) return;
  constexpr std::array<std::pair<std::int64_t, std::int64_t>, 6> kTilesAndWarps{
      {{32, 16}, {64, 16}, {128, 16}, {32, 8}, {64, 32}, {128, 32}}};
  for (const auto& [tile, rows_of_warp] : kTilesAndWarps) {
    const auto row_of_first_warp = [=](std::int64_t i) {
      return i / tile * tile + i % rows_of_warp;
    };
    add("RL0478",
        "rows of every warp have the mask of the first warp's, of " + std::to_string(rows_of_warp) +
            " rows in a tile of " + std::to_string(tile),
        "the query of a row is the tile's first one, plus the warp's first row, plus the row "
        "within "
        "the warp",
        [&](AttentionRule& rule) {
          rule.keys = [=, this](std::int64_t i) {
            return case_.mask.keys(row_of_first_warp(i), case_.shape);
          };
        });
  }
}

void AttentionMistakes::add_ends_of_first_query() {
  if (!case_.mask.causal) return;
  for (const std::int64_t queries : {32, 64}) {
    for (const std::int64_t keys : {32, 64}) {
      add("RL0478",
          "the loop over tiles of " + std::to_string(keys) +
              " keys ends where the first query of a block sees no more",
          "the last query of a tile sees the most keys: let its last one end the loop, for all "
          "threads",
          [&](AttentionRule& rule) {
            rule.keys = [=, this](std::int64_t i) {
              const KeyRange right = case_.mask.keys(i, case_.shape);
              const KeyRange of_first = case_.mask.keys(i / queries * queries, case_.shape);
              if (of_first.last < 0) return KeyRange{0, -1};
              const std::int64_t end = (of_first.last / keys + 1) * keys;
              return KeyRange{right.first, std::min(right.last, end - 1)};
            };
          });
    }
  }
}

void AttentionMistakes::add_uncleared_weights() {
  const AttentionShape s = case_.shape;
  const Mask mask = case_.mask;
  if (!mask.causal) return;
  add("RL0478", "the weights of masked keys are not cleared: their scores are still there",
      "the product with v takes the whole row of weights: store 0 for each key that the mask hides",
      [&](AttentionRule& rule) {
        rule.keys = [=](std::int64_t) { return KeyRange{0, s.key_length - 1}; };
        rule.softmax = [=](const Scores& scores) {
          const KeyRange seen = mask.keys(scores.query, s);
          const auto begin = scores.values.begin();
          const Softmax right = right_softmax(
              {seen.first, {begin + seen.first, begin + seen.last + 1}, scores.key_length});
          Softmax softmax{scores.values, 1, right.log_sum_exp};
          for (std::int64_t j = seen.first; j <= seen.last; ++j) {
            softmax.weight[static_cast<std::size_t>(j)] =
                right.weight[static_cast<std::size_t>(j - seen.first)] / right.divisor;
          }
          return softmax;
        };
        rule.softmax_without_keys = [](const Scores& scores) {
          return Softmax{scores.values, 1, 0};
        };
      });
}

void AttentionMistakes::add_wrong_windows() {
  const std::int64_t window = case_.mask.window;
  if (window == 0) return;
  const auto with = [&](Code code, const char* cause, std::int64_t wrong) {
    add(code, cause,
        "a window of W has W keys, the query's own among them: from max(0, last - W + 1) to last",
        [=](AttentionRule& rule) { rule.mask.window = wrong; });
  };
  with("RL0476", "the window is one key too long", window + 1);
  if (window > 1) with("RL0476", "the window is one key too short", window - 1);
  with("RL0477", "the window is ignored: queries see all earlier keys", 0);
}

void AttentionMistakes::add_wrong_heads() {
  const AttentionShape& s = case_.shape;
  constexpr const char* kAdvice =
      "query head h reads key/value head h / (query_heads / key_value_heads)";
  add("RL0480", "query heads are dealt to the key/value heads in turn", kAdvice,
      [&](AttentionRule& rule) {
        rule.head = [&s](std::int64_t h) { return h % s.key_value_heads; };
      });
  add("RL0480", "every query head reads the first key/value head", kAdvice,
      [](AttentionRule& rule) { rule.head = [](std::int64_t) { return 0; }; });
  const Numbers keys = widened(problem_, "k");
  const Numbers values = widened(problem_, "v");
  const auto misread = [&](const Numbers& x) {
    return tokens_before_heads(x, s.batch, s.key_value_heads, s.key_length, s.head_dim);
  };
  mistakes_.add("RL0474", "keys and values are read as if tokens came before heads",
                "k and v are (batch, key_value_heads, key_length, head_dim)",
                case_.expected(problem_, case_.rule(), misread(keys), misread(values)));
  mistakes_.add("RL0473", "keys and values are swapped",
                "scores come from the keys, and what they weigh are the values",
                case_.expected(problem_, case_.rule(), values, keys));
}

void AttentionMistakes::add_wrong_softmax() {
  const auto with = [&](Code code, const char* cause, const char* advice,
                        const SoftmaxRule& softmax) {
    add_not_finite(code, cause, advice, [&](AttentionRule& rule) { rule.softmax = softmax; });
  };
  // First: of scores far below zero, without_maximum() makes the same.
  for (const bool divides_by_zero : {true, false}) {
    with("RL0533", "the maximum of a row starts at 0, and cannot be negative",
         "start at -INFINITY: where all scores are far below 0, exp(score - 0) is 0 for each of "
         "them",
         with_maximum_from_zero(divides_by_zero));
  }
  with("RL0481",
       "exponentials overflow: the largest of the scores that go into exp is not subtracted",
       "take exp(score - largest score of the row): the quotient is the same, and no exponential "
       "exceeds 1",
       without_maximum);
  with("RL0482", "the sum is not divided by the sum of the exponentials",
       "divide by the sum of exp(score - largest score) over the row", not_normalised);
}

void AttentionMistakes::add_wrong_tiles() {
  const AttentionShape& s = case_.shape;
  constexpr const char* kRescale =
      "when the maximum grows, multiply both sums by exp(old maximum - new maximum) before the new "
      "tile is added";
  for (const std::int64_t tile : kTiles) {
    const std::string raises = " when a " +
                               (tile == 1 ? "key" : "tile of " + std::to_string(tile) + " keys") +
                               " raises the maximum";
    const auto with = [&](Code code, const std::string& cause, const char* advice,
                          const SoftmaxRule& softmax) {
      add(code, cause, advice, [&](AttentionRule& rule) { rule.softmax = softmax; });
    };
    with("RL0520", "the sum of the values is not rescaled" + raises, kRescale,
         not_rescaled(tile, {.values = true}));
    with("RL0521", "the sum of the weights is not rescaled" + raises, kRescale,
         not_rescaled(tile, {.weights = true}));
    with("RL0521", "neither sum is rescaled" + raises, kRescale,
         not_rescaled(tile, {.values = true, .weights = true}));
    if (tile == 1) continue;
    const std::string tiles = "tiles of " + std::to_string(tile) + " keys";
    with("RL0534", "the sums start anew with each tile: only the last of the " + tiles + " counts",
         "set maximum and sums before the loop over tiles", last_tile_alone(tile));
    if (tile >= 16 && tile <= 64) add_wrong_rescaling(tile);
    if (s.key_length % tile == 0) continue;
    if (!case_.mask.causal) {
      with("RL0522", "zeros behind the last key count in the softmax, as they fill up " + tiles,
           "a score of 0 is a score like any other: give keys at or behind key_length the score "
           "-INFINITY",
           with_padding(tile));
    }
    add("RL0532", "the keys of the last, partial tile are left out, with " + tiles,
        "round the number of tiles up, and mask what lies behind the last key",
        [&](AttentionRule& rule) {
          const std::int64_t whole = s.key_length / tile * tile;
          rule.keys = [=, this](std::int64_t i) {
            const KeyRange right = case_.mask.keys(i, case_.shape);
            return KeyRange{right.first, std::min(right.last, whole - 1)};
          };
        });
  }
}

void AttentionMistakes::add_wrong_rescaling(std::int64_t tile) {
  const std::string tiles = "tiles of " + std::to_string(tile) + " keys";
  const auto with = [&](Code code, const std::string& cause, const char* advice,
                        const SoftmaxRule& softmax) {
    add(code, cause, advice, [&](AttentionRule& rule) { rule.softmax = softmax; });
  };
  add_maxima_of_own_tiles(tile);
  with("RL0521", "neither sum is rescaled, and each of the " + tiles + " has a maximum of its own",
       "the new maximum is the larger of the old one and that of the tile; both sums shrink by "
       "exp(old maximum - new maximum) before the tile is added",
       tiles_not_rescaled(tile));
  with("RL0520",
       "the sum of the values is rescaled before each key instead of once for each tile, with " +
           tiles,
       "multiply by exp(old maximum - new maximum) before the loop over the keys of a tile",
       rescaled_for_each_key(tile));
  with("RL0482",
       "the sum of the values is divided after each tile instead of once at the end, with " + tiles,
       "leave both sums as they are between tiles, and divide behind the loop",
       divided_after_each_tile(tile));
}

void AttentionMistakes::add_maxima_of_own_tiles(std::int64_t tile) {
  AttentionRule rule = case_.rule();
  rule.softmax = maximum_of_own_tile(tile);
  std::vector<Expected> outputs = case_.expected(problem_, rule);
  // Rows where maxima grow from tile to tile stay right. Where there are none, this is like any
  // other way to leave nothing that is a number.
  if (std::ranges::none_of(outputs[0].value, [](double x) { return std::isfinite(x); })) return;
  mistakes_.add_not_finite(
      "RL0481",
      "exponentials overflow: the largest score of a tile of " + std::to_string(tile) +
          " keys replaces a larger one before it",
      "take the larger of the two, fmaxf(maximum, largest score of the tile): exp(old maximum - "
      "new maximum) is then at most 1",
      std::move(outputs));
}

std::vector<Expected> AttentionMistakes::with_rows_not_a_number(std::int64_t query_tile,
                                                                std::int64_t key_tile) const {
  std::vector<Expected> outputs = right_;
  const AttentionShape& s = case_.shape;
  const std::vector<std::int64_t> rows = case_.judged_rows(problem_);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::int64_t query = rows[r] % s.query_length;
    // A block starts with the tile of the first key that its first query sees.
    const KeyRange of_block = case_.mask.keys(query / query_tile * query_tile, s);
    const std::int64_t behind_first_tile = (of_block.first / key_tile + 1) * key_tile;
    const KeyRange own = case_.mask.keys(query, s);
    if (own.count() > 0 && own.first < behind_first_tile) continue;
    const auto depth = static_cast<std::size_t>(s.head_dim);
    for (std::size_t i = 0; i < depth; ++i) outputs[0].value[r * depth + i] = std::nan("");
    if (outputs.size() > 1) outputs[1].value[r] = std::nan("");
  }
  return outputs;
}

void AttentionMistakes::add_rows_without_keys() {
  constexpr Code kCode = "RL0523";
  constexpr const char* kAdvice =
      "subtract 0 instead of the maximum while that is -INFINITY, since -INFINITY - -INFINITY is "
      "not a number, and do not divide by a sum of 0";
  constexpr std::int64_t kWhole = std::int64_t{1} << 40;
  mistakes_.add_not_finite(kCode, "rows that see no key are not a number", kAdvice,
                           with_rows_not_a_number(1, kWhole));
  for (const std::int64_t query_tile : kTiles) {
    for (const std::int64_t key_tile : kTiles) {
      mistakes_.add_not_finite(
          kCode, "rows that see no key of the first tile that their block visits are not a number",
          kAdvice, with_rows_not_a_number(query_tile, key_tile));
    }
  }
  add(kCode, "rows that see no key are a mean of values",
      "mask with -INFINITY: with a large negative number instead, a row of masked scores has a "
      "maximum like any other, and weights of 1",
      [&](AttentionRule& rule) {
        const AttentionShape s = case_.shape;
        const Mask mask = case_.mask;
        rule.keys = [=](std::int64_t i) {
          const KeyRange right = mask.keys(i, s);
          return right.count() > 0 ? right : KeyRange{0, s.key_length - 1};
        };
        rule.softmax_without_keys = [](const Scores& scores) {
          return right_softmax({0, Numbers(scores.values.size()), scores.key_length});
        };
      });
}

void AttentionMistakes::add_wrong_log_sum_exp() {
  if (right_.size() < 2) return;
  const auto with = [&](Code code, const char* cause, const char* advice, auto change) {
    add(code, cause, advice, [&](AttentionRule& rule) {
      rule.softmax = [=](const Scores& scores) {
        Softmax softmax = right_softmax(scores);
        const double log_of_sum = std::log(softmax.divisor);
        softmax.log_sum_exp = change(softmax.log_sum_exp - log_of_sum, log_of_sum);
        return softmax;
      };
    });
  };
  constexpr double kLog2E = 1.4426950408889634;
  constexpr const char* kWhole = "log_sum_exp = maximum + log(sum of exp(score - maximum))";
  constexpr const char* kBase =
      "scores that were multiplied by log2(e) for exp2 have a maximum that is too large by that "
      "factor: divide it by log2(e), and take the natural logarithm of the sum";
  with("RL0524", "the maximum is missing from log_sum_exp", kWhole,
       [](double, double log_of_sum) { return log_of_sum; });
  with("RL0524", "the logarithm of the sum is missing from log_sum_exp", kWhole,
       [](double maximum, double) { return maximum; });
  with("RL0524", "the sum is added to the maximum, not its logarithm", kWhole,
       [](double maximum, double log_of_sum) { return maximum + std::exp(log_of_sum); });
  with("RL0525", "log_sum_exp is a logarithm to base 2", kBase,
       [](double maximum, double log_of_sum) { return (maximum + log_of_sum) * kLog2E; });
  with("RL0525", "the maximum in log_sum_exp is one to base 2", kBase,
       [](double maximum, double log_of_sum) { return maximum * kLog2E + log_of_sum; });
  with("RL0525", "the logarithm of the sum in log_sum_exp is one to base 2", kBase,
       [](double maximum, double log_of_sum) { return maximum + log_of_sum * kLog2E; });
}

void AttentionMistakes::add_lost_keys_of_splits(std::int64_t splits) {
  const KeyRange all = case_.mask.keys(0, case_.shape);
  const std::int64_t kept = all.count() / splits * splits;
  if (kept == 0 || kept == all.count()) return;
  add("RL0532",
      "the last keys belong to no part: they are dealt to " + std::to_string(splits) +
          " parts of equal size, rounded down",
      "round the keys of a part up, and end the last part where the keys end",
      [=](AttentionRule& rule) {
        rule.keys = [=](std::int64_t) { return KeyRange{all.first, all.first + kept - 1}; };
      });
}

void AttentionMistakes::add_wrong_splits(std::int64_t splits) {
  constexpr const char* kAdvice =
      "weigh each part by exp(its log-sum-exp - the largest of them), and divide by the sum of "
      "these weights";
  const auto with = [&](const char* cause, const SoftmaxRule& softmax) {
    add("RL0526", cause, kAdvice, [&](AttentionRule& rule) { rule.softmax = softmax; });
  };
  with("the parts of the keys are combined by their plain mean", mean_of_splits(splits));
  with("the results of the parts are added up", sum_of_splits(splits));
  with("sums of parts are added up that belong to different maxima", splits_not_rescaled(splits));
}

/// What half precision may do at worst, where scores are large, is more than it does: errors that
/// are not small against the values have another cause.
std::vector<Expected> AttentionMistakes::bounded_by_size(std::vector<Expected> outputs) const {
  constexpr double kMostShare = 0.02;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    double squares = 0;
    std::size_t finite = 0;
    for (const double value : outputs[o].value) {
      if (!std::isfinite(value)) continue;
      squares += value * value;
      ++finite;
    }
    const double size = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(finite, 1)));
    for (std::size_t i = 0; i < outputs[o].tolerance.size(); ++i) {
      const double most = right_[o].tolerance[i] + kMostShare * size;
      outputs[o].tolerance[i] = std::min(outputs[o].tolerance[i], most);
    }
  }
  return outputs;
}

std::vector<KnownMistake> AttentionMistakes::take() {
  std::vector<KnownMistake> mistakes = mistakes_.take();
  // The right values, as far off as half precision may be: nothing that matches otherwise gets
  // here.
  AttentionRule rule = case_.rule();
  rule.unit = 0x1p-11;
  mistakes.push_back({"RL0528", "results are as far off as scores or sums in half precision",
                      "accumulate in fp32: dot products, sums of weights, sums of weighted values",
                      bounded_by_size(case_.expected(problem_, rule))});
  return mistakes;
}

}  // namespace rooflab
