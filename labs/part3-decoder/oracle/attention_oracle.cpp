#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/selection.h"
#include "labs/part3-decoder/oracle/operations.h"
#include "labs/part3-decoder/oracle/tensors.h"

namespace rooflab {
namespace {

/// out (batch, query_length, query_heads, head_dim): the newest `query_length` of `key_length`
/// tokens attend to the cache. `score_spread` is the standard deviation of the scores, 2 where a
/// case gives none; with 40, exponentials overflow. `scale` is drawn.
class AttentionOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const Case c = read(parameters);
    const AttentionShape& s = c.shape;
    Problem problem{parameters, {}};
    const double scale = draw_attention_scale(problem.parameters, "scale", s.head_dim, seed);
    // The deviation of q: keys have 1.
    const double spread = set_default(problem.parameters, "score_spread", 2.0) /
                          (scale * std::sqrt(static_cast<double>(s.head_dim)));
    Random random(seed);
    problem.vast = is_vast(parameters);
    if (problem.vast) {
      add_vast_tensors(c, spread, random, problem);
      return problem;
    }
    problem.tensors.push_back(random_tensor("q", c.type, Role::input,
                                            {s.batch, s.query_length, s.query_heads, s.head_dim},
                                            spread, random));
    for (const char* name : {"keys", "values"}) {
      problem.tensors.push_back(filled(name, c.type, Role::input,
                                       {s.batch, s.key_value_heads, s.capacity, s.head_dim},
                                       used_cache(c, random)));
    }
    problem.tensors.push_back(
        consecutive("positions", c.key_length - s.query_length, s.query_length));
    problem.tensors.push_back(
        output("out", c.type, {s.batch, s.query_length, s.query_heads, s.head_dim}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    const Case c = read(problem.parameters);
    if (problem.vast) return {some_heads(problem, c)};
    const Sample sample{problem, judged_tokens(problem, keys_seen(c, c.key_length - 1))};
    return {attended(sample, right_rule(problem))};
  }

  Work work(const Values& parameters) const override {
    const Case c = read(parameters);
    const AttentionShape& s = c.shape;
    const std::int64_t first_query = c.key_length - s.query_length;
    double pairs = 0;
    for (std::int64_t position = first_query; position < c.key_length; ++position) {
      pairs += static_cast<double>(keys_seen(c, position));
    }
    pairs *= static_cast<double>(s.batch);
    const std::int64_t keys = s.query_length - 1 + keys_seen(c, first_query);
    const auto query_elements =
        static_cast<double>(s.batch * s.query_length * s.query_heads * s.head_dim);
    const auto key_elements = static_cast<double>(s.batch * keys * s.key_value_heads * s.head_dim);
    // Two products of 2 FLOPs for each pair, head and element. With several queries they are
    // products of matrices, which bfloat16 has tensor cores for; a single one is bound by memory.
    const bool tensor_cores = c.type == ElementType::bfloat16 && s.query_length > 1;
    const double flops = 4 * static_cast<double>(s.query_heads * s.head_dim) * pairs;
    const double elements = 2 * query_elements + 2 * key_elements;
    return {
        {{tensor_cores ? "bf16_tensor" : "fp32", flops}},
        static_cast<double>(size_of(c.type)) * elements + 4 * static_cast<double>(s.query_length)};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    if (problem.vast) return {};  // other cases know them
    // Whoever ignores the window sees all keys.
    const Sample sample{problem, judged_tokens(problem, read(problem.parameters).key_length)};
    Mistakes mistakes({attended(sample, right_rule(problem))});
    add_wrong_scales(sample, mistakes);
    add_wrong_windows(sample, mistakes);
    add_wrong_masks(sample, mistakes);
    add_wrong_heads(sample, mistakes);
    add_wrong_softmax(sample, mistakes);
    return mistakes.take();
  }

 private:
  struct Case {
    AttentionShape shape;
    std::int64_t key_length, window;
    ElementType type;
  };

  /// The tokens of a problem that are computed.
  struct Sample {
    const Problem& problem;
    std::vector<std::int64_t> tokens;
  };

  static Case read(const Values& parameters) {
    const Case c{{integer(parameters, "batch"), integer(parameters, "query_length"),
                  integer(parameters, "query_heads"), integer(parameters, "key_value_heads"),
                  integer(parameters, "head_dim"), integer(parameters, "capacity")},
                 integer(parameters, "key_length"),
                 integer(parameters, "window", 0),
                 storage_type(parameters)};
    if (c.shape.query_heads % c.shape.key_value_heads != 0) {
      throw std::invalid_argument("`query_heads` must be a multiple of `key_value_heads`");
    }
    if (c.key_length < c.shape.query_length) {
      throw std::invalid_argument("`key_length` counts the queries' own tokens too: raise it");
    }
    const std::int64_t needed =
        c.shape.query_length - 1 + keys_seen(c, c.key_length - c.shape.query_length);
    if (c.shape.capacity < needed) {
      throw std::invalid_argument("the queries see " + std::to_string(needed) +
                                  " keys: `capacity` must be at least that");
    }
    return c;
  }

  /// A cache of more elements than an int counts, of which the queries see the last keys.
  static void add_vast_tensors(const Case& c, double spread, Random& random, Problem& problem) {
    const AttentionShape& s = c.shape;
    const std::vector<std::int64_t> queries = {s.batch, s.query_length, s.query_heads, s.head_dim};
    const std::int64_t count = s.batch * s.query_length * s.query_heads * s.head_dim;
    const std::int64_t period = vast_period(c.type);
    problem.tensors.push_back(
        count > period
            ? repeated(random_tensor("q", c.type, Role::input, {period}, spread, random), count)
            : in_whole_pages(random_tensor("q", c.type, Role::input, queries, spread, random)));
    for (const char* name : {"keys", "values"}) {
      problem.tensors.push_back(
          repeated(random_tensor(name, c.type, Role::input, {vast_period(c.type)}, 1, random),
                   s.batch * s.key_value_heads * s.capacity * s.head_dim));
    }
    problem.tensors.push_back(
        in_whole_pages(consecutive("positions", c.key_length - s.query_length, s.query_length)));
    problem.tensors.push_back(output("out", c.type, queries));
  }

  /// What some heads of some queries of a vast problem become.
  static Expected some_heads(const Problem& problem, const Case& c) {
    constexpr std::int64_t kMostHeads = 100;
    const AttentionShape& s = c.shape;
    const std::vector<std::int64_t> rows = selected_rows(problem, "out", s.head_dim, kMostHeads);
    Computed out;
    for (const std::int64_t row : rows) {
      const std::int64_t query_head = row % s.query_heads;
      const std::int64_t query = row / s.query_heads % s.query_length;
      const std::int64_t batch = row / s.query_heads / s.query_length;
      const std::int64_t last = c.key_length - s.query_length + query;
      const std::int64_t count = keys_seen(c, last);
      const std::int64_t head = query_head / (s.query_heads / s.key_value_heads);
      std::vector<std::int64_t> slots;
      for (std::int64_t j = last - count + 1; j <= last; ++j) {
        slots.push_back((batch * s.key_value_heads + head) * s.capacity + j % s.capacity);
      }
      AttentionRule rule = right_rule(problem);
      rule.window = 0;  // these keys alone
      const auto seen = elements_of_rows(slots, s.head_dim);
      const Computed one = attention(
          widened(tensor(problem, "q"), elements_of_rows({row}, s.head_dim)),
          widened(tensor(problem, "keys"), seen), widened(tensor(problem, "values"), seen),
          {static_cast<double>(count - 1)}, {1, 1, 1, 1, s.head_dim, count}, rule, {0});
      out.value.insert(out.value.end(), one.value.begin(), one.value.end());
      out.error.insert(out.error.end(), one.error.begin(), one.error.end());
    }
    Expected expected = stored("out", c.type, std::move(out));
    expected.index = elements_of_rows(rows, s.head_dim);
    return expected;
  }

  /// Slots of older tokens than the queries see hold numbers, slots that never held a token hold no
  /// number: memory that was not written yet may hold anything.
  static Numbers used_cache(const Case& c, Random& random) {
    const AttentionShape& s = c.shape;
    Numbers cache = normal_values(s.batch * s.key_value_heads * s.capacity * s.head_dim, 1, random);
    for (std::size_t i = 0; i < cache.size(); ++i) {
      const auto slot = static_cast<std::int64_t>(i) / s.head_dim % s.capacity;
      if (slot >= c.key_length) cache[i] = std::nan("");
    }
    return cache;
  }

  static std::int64_t keys_seen(const Case& c, std::int64_t position) {
    return c.window > 0 ? std::min(position + 1, c.window) : position + 1;
  }

  static AttentionRule right_rule(const Problem& problem) {
    const Case c = read(problem.parameters);
    AttentionRule rule;
    rule.scale = real(problem.parameters, "scale");
    rule.window = c.window;
    // On tensor cores, the probabilities are rounded to bfloat16 on their way: each moves by at
    // most 2^-8 of itself, and in a sum over keys these moves go to both sides. Twice the root of
    // their squares is five standard deviations.
    if (c.type == ElementType::bfloat16) rule.probability_unit = 2 * 0x1p-8;
    return rule;
  }

  /// All tokens, or a sample where there is too much to compute in fp64: the first and the last
  /// ones, which edges go wrong at, and others that nobody can know before.
  /// @param keys that a query sees at most, by the rules to compute
  static std::vector<std::int64_t> judged_tokens(const Problem& problem, std::int64_t keys) {
    constexpr double kMostProducts = 4e8;  // less than a second
    constexpr std::int64_t kLeastTokens = 64;
    const Case c = read(problem.parameters);
    const std::int64_t count = c.shape.batch * c.shape.query_length;
    const double per_token = 3.0 * static_cast<double>(c.shape.query_heads * c.shape.head_dim) *
                             static_cast<double>(keys);
    const auto affordable = static_cast<std::int64_t>(kMostProducts / per_token);
    return selected_rows(count, std::max(affordable, kLeastTokens), problem.selection);
  }

  static Expected attended(const Sample& sample, const AttentionRule& rule) {
    return attended(sample, rule, widened(sample.problem, "keys"),
                    widened(sample.problem, "values"));
  }

  static Expected attended(const Sample& sample, const AttentionRule& rule, const Numbers& keys,
                           const Numbers& values) {
    const auto& [problem, tokens] = sample;
    const Case c = read(problem.parameters);
    Expected expected = stored("out", c.type,
                               attention(widened(problem, "q"), keys, values,
                                         widened(problem, "positions"), c.shape, rule, tokens));
    const std::int64_t row = c.shape.query_heads * c.shape.head_dim;
    if (static_cast<std::int64_t>(tokens.size()) == c.shape.batch * c.shape.query_length) {
      return expected;
    }
    for (const std::int64_t token : tokens) {
      for (std::int64_t i = 0; i < row; ++i) {
        expected.index.push_back(static_cast<std::size_t>(token * row + i));
      }
    }
    return expected;
  }

  /// One mistake that `change` makes of the right rule.
  template <typename Change>
  static void add(const Sample& sample, Mistakes& mistakes, Code code, const char* cause,
                  const char* advice, const Change& change) {
    AttentionRule rule = right_rule(sample.problem);
    change(rule);
    mistakes.add(code, cause, advice, {attended(sample, rule)});
  }

  static void add_wrong_scales(const Sample& sample, Mistakes& mistakes) {
    constexpr Code kCode = "RL0475";
    constexpr const char* kAdvice = "multiply each dot product of q and k by `scale`, once";
    const double scale = right_rule(sample.problem).scale;
    const auto depth = static_cast<double>(read(sample.problem.parameters).shape.head_dim);
    const auto with = [&](const char* cause, double wrong) {
      add(sample, mistakes, kCode, cause, kAdvice,
          [=](AttentionRule& rule) { rule.scale = wrong; });
    };
    with("scores are not scaled", 1);
    with("scores are multiplied by 1 / sqrt(head_dim) instead of by the scale",
         1 / std::sqrt(depth));
    // Where the scale is 1 / sqrt(head_dim), its square is 1 / head_dim: nobody can tell which.
    const bool is_both = std::abs(scale * scale * depth - 1) < 1e-6;
    with(is_both ? "scores are multiplied by 1 / head_dim: that is the square of the scale"
                 : "scores are multiplied by the square of the scale: twice",
         scale * scale);
    with("scores are multiplied by 1 / head_dim", 1 / depth);
    with("scores are divided by the scale instead of multiplied", 1 / scale);
    with("scores are scaled by its root", std::sqrt(scale));
  }

  static void add_wrong_windows(const Sample& sample, Mistakes& mistakes) {
    const Case c = read(sample.problem.parameters);
    if (c.window == 0) return;
    constexpr const char* kAdvice =
        "a window of W has W keys, the query's own among them: from max(0, p - W + 1) to p";
    add(sample, mistakes, "RL0476", "the window is one key too long", kAdvice,
        [&](AttentionRule& rule) { rule.window = c.window + 1; });
    if (c.window > 1) {
      add(sample, mistakes, "RL0476", "the window is one key too short", kAdvice,
          [&](AttentionRule& rule) { rule.window = c.window - 1; });
    }
    add(sample, mistakes, "RL0477", "the window is ignored: queries see all earlier keys", kAdvice,
        [](AttentionRule& rule) { rule.window = 0; });
  }

  static void add_wrong_masks(const Sample& sample, Mistakes& mistakes) {
    const Case c = read(sample.problem.parameters);
    const std::int64_t last = c.key_length - 1;
    const std::int64_t window = c.window > 0 ? c.window : c.key_length;
    const auto with = [&](Code code, const char* cause, const char* advice, auto keys) {
      add(sample, mistakes, code, cause, advice, [&](AttentionRule& rule) { rule.keys = keys; });
    };
    const auto start = [](std::int64_t first) { return std::max<std::int64_t>(0, first); };
    constexpr const char* kCausal = "a query at position p sees no key after p";
    with("RL0478", "queries see keys that come after them", kCausal,
         [=](std::int64_t, std::int64_t p) {
           return KeyRange{start(p - window + 1), last};
         });
    with("RL0478", "queries see the key that comes after them", kCausal,
         [=](std::int64_t, std::int64_t p) {
           return KeyRange{start(p - window + 1), std::min(p + 1, last)};
         });
    with("RL0478", "queries do not see their own key", "a query at position p sees key p too",
         [=](std::int64_t, std::int64_t p) {
           return KeyRange{start(p - window + 1), p - 1};
         });
    with("RL0479", "the mask starts with key 0 at the first query of the call",
         "the queries are the newest tokens: use positions[i], not i",
         [=](std::int64_t i, std::int64_t) {
           return KeyRange{start(i - window + 1), i};
         });
  }

  static void add_wrong_heads(const Sample& sample, Mistakes& mistakes) {
    const AttentionShape s = read(sample.problem.parameters).shape;
    constexpr Code kCode = "RL0480";
    constexpr const char* kAdvice =
        "query head h reads key/value head h / (query_heads / key_value_heads)";
    add(sample, mistakes, kCode, "query heads are dealt to the key/value heads in turn", kAdvice,
        [=](AttentionRule& rule) {
          rule.head = [=](std::int64_t h) { return h % s.key_value_heads; };
        });
    add(sample, mistakes, kCode, "every query head reads the first key/value head", kAdvice,
        [](AttentionRule& rule) { rule.head = [](std::int64_t) { return 0; }; });
    const auto misread = [&](const char* name) {
      return swap_middle_axes(widened(sample.problem, name), s.batch, s.capacity, s.key_value_heads,
                              s.head_dim);
    };
    mistakes.add(
        "RL0474", "the caches are read as if slots came before heads",
        "keys and values are (batch, key_value_heads, capacity, head_dim)",
        {attended(sample, right_rule(sample.problem), misread("keys"), misread("values"))});
    mistakes.add("RL0473", "keys and values are swapped",
                 "scores come from the keys, and what they weigh are the values",
                 {attended(sample, right_rule(sample.problem), widened(sample.problem, "values"),
                           widened(sample.problem, "keys"))});
  }

  static void add_wrong_softmax(const Sample& sample, Mistakes& mistakes) {
    AttentionRule unshifted = right_rule(sample.problem);
    unshifted.shifted = false;
    mistakes.add_not_finite(
        "RL0481",
        "exponentials overflow: the largest of the scores that go into exp is not subtracted",
        "take exp(score - largest score of the row): the quotient is the same, and no exponential "
        "exceeds 1",
        {attended(sample, unshifted)});
    add(sample, mistakes, "RL0482", "the sum is not divided by the sum of the exponentials",
        "divide by the sum of exp(score - largest score) over the row",
        [](AttentionRule& rule) { rule.normalised = false; });
    add(sample, mistakes, "RL0482", "the sum is not divided by the sum of the exponentials",
        "divide by the sum of the exponentials over the row", [](AttentionRule& rule) {
          rule.normalised = false;
          rule.shifted = false;
        });
  }
};

ROOFLAB_ORACLE("attention", AttentionOracle)

}  // namespace
}  // namespace rooflab
