#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "grader/contract/oracle.h"
#include "labs/part3-decoder/oracle/operations.h"
#include "labs/part3-decoder/oracle/tensors.h"

namespace rooflab {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

/// The shape of a prompt's attention, and where its numbers lie.
struct Prompt {
  std::int64_t length, query_heads, key_heads, head_dim, window;

  static Prompt read(const Values& parameters) {
    const Prompt p{integer(parameters, "length"), integer(parameters, "query_heads"),
                   integer(parameters, "key_value_heads"), integer(parameters, "head_dim"),
                   integer(parameters, "window", 0)};
    if (p.query_heads % p.key_heads != 0) {
      throw std::invalid_argument("`query_heads` must be a multiple of `key_value_heads`");
    }
    return p;
  }

  bool sees(std::int64_t token, std::int64_t key) const {
    return key <= token && (window == 0 || key > token - window);
  }
  /// Pairs of a token and a key that it sees.
  double pairs() const {
    double count = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      count += static_cast<double>(window == 0 ? i + 1 : std::min(window, i + 1));
    }
    return count;
  }
  std::int64_t scores() const { return query_heads * length * length; }
  std::int64_t score(std::int64_t head, std::int64_t token, std::int64_t key) const {
    return (head * length + token) * length + key;
  }
  /// Of (length, query_heads, head_dim).
  std::int64_t query(std::int64_t token, std::int64_t head) const {
    return (token * query_heads + head) * head_dim;
  }
  /// Of (key_value_heads, length, head_dim).
  std::int64_t key(std::int64_t key_head, std::int64_t key) const {
    return (key_head * length + key) * head_dim;
  }
};

/// Ways to go wrong that several steps share.
struct PromptRule {
  double scale = 1;
  std::int64_t last_seen = 0;          ///< keys behind the token itself that it sees
  std::int64_t longer_window = 0;      ///< by so many keys
  bool masks = true;                   ///< false: every token sees all keys
  bool takes_turns_with_keys = false;  ///< query head h reads key head h % key_value_heads
  bool swaps_tokens = false;           ///< scores[h][j][i], or weights of that layout
};

std::int64_t key_head_of(const Prompt& p, const PromptRule& rule, std::int64_t head) {
  return rule.takes_turns_with_keys ? head % p.key_heads : head / (p.query_heads / p.key_heads);
}

bool sees(const Prompt& p, const PromptRule& rule, std::int64_t token, std::int64_t key) {
  if (!rule.masks) return true;
  const bool in_window = p.window == 0 || key > token - p.window - rule.longer_window;
  return key <= token + rule.last_seen && in_window;
}

/// Of the product of queries and keys, and of weights and values: both read and write one tensor by
/// query head, one by key head, and the scores or weights between them.
Work work_of_product(const Values& parameters) {
  const Prompt p = Prompt::read(parameters);
  const auto heads = static_cast<double>(p.query_heads);
  const auto depth = static_cast<double>(p.head_dim);
  const auto tokens = static_cast<double>(p.length * (p.query_heads + p.key_heads));
  return {{{"fp32", 2 * heads * depth * p.pairs()}},
          4 * (tokens * depth + static_cast<double>(p.scores()))};
}

// --- Step 1 --------------------------------------------------------------------------------------

Expected scores_of(const Problem& problem, const PromptRule& rule) {
  const Prompt p = Prompt::read(problem.parameters);
  const Numbers q = widened(problem, "q"), keys = widened(problem, "keys");
  const auto size = static_cast<std::size_t>(p.scores());
  Computed out{Numbers(size, kMasked), Numbers(size)};
  for (std::int64_t h = 0; h < p.query_heads; ++h) {
    for (std::int64_t i = 0; i < p.length; ++i) {
      for (std::int64_t j = 0; j < p.length; ++j) {
        if (!sees(p, rule, i, j)) continue;
        const double* query = q.data() + p.query(i, h);
        const double* key = keys.data() + p.key(key_head_of(p, rule, h), j);
        double sum = 0, query_squares = 0, key_squares = 0;
        for (std::int64_t d = 0; d < p.head_dim; ++d) {
          sum += query[d] * key[d];
          query_squares += query[d] * query[d];
          key_squares += key[d] * key[d];
        }
        const std::int64_t at = rule.swaps_tokens ? p.score(h, j, i) : p.score(h, i, j);
        const double norms = std::sqrt(query_squares * key_squares);
        out.value[at] = rule.scale * sum;
        // The scale's product, before or after the sum, rounds each term once more.
        out.error[at] = std::abs(rule.scale) * sum_tolerance(p.head_dim + 1, kFloat32Unit, norms);
      }
    }
  }
  return stored("scores", ElementType::float32, std::move(out));
}

/// scores (query_heads, length, length) of q (length, query_heads, head_dim) and keys
/// (key_value_heads, length, head_dim). `scale` is drawn.
class ScoresOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const Prompt p = Prompt::read(parameters);
    Problem problem{parameters, {}};
    draw_attention_scale(problem.parameters, "scale", p.head_dim, seed);
    Random random(seed);
    problem.tensors.push_back(random_tensor("q", ElementType::float32, Role::input,
                                            {p.length, p.query_heads, p.head_dim}, 1, random));
    problem.tensors.push_back(random_tensor("keys", ElementType::float32, Role::input,
                                            {p.key_heads, p.length, p.head_dim}, 1, random));
    problem.tensors.push_back(
        output("scores", ElementType::float32, {p.query_heads, p.length, p.length}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return {scores_of(problem, right(problem))};
  }

  Work work(const Values& parameters) const override { return work_of_product(parameters); }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    Mistakes mistakes(expect(problem));
    const auto add = [&](Code code, const char* cause, const char* advice, const auto& change) {
      PromptRule rule = right(problem);
      change(rule);
      mistakes.add(code, cause, advice, {scores_of(problem, rule)});
    };
    constexpr const char* kScale = "multiply each dot product of q and k by `scale`, once";
    add("RL0475", "scores are not scaled", kScale, [](PromptRule& rule) { rule.scale = 1; });
    add("RL0475", "scores are divided by the scale instead of multiplied", kScale,
        [](PromptRule& rule) { rule.scale = 1 / rule.scale; });
    constexpr const char* kWindow = "a window of W has W keys, the token's own among them";
    add("RL0476", "the window is one key too long", kWindow,
        [](PromptRule& rule) { rule.longer_window = 1; });
    add("RL0476", "the window is one key too short", kWindow,
        [](PromptRule& rule) { rule.longer_window = -1; });
    add("RL0478", "tokens see the key that comes after them", "token i sees no key after i",
        [](PromptRule& rule) { rule.last_seen = 1; });
    add("RL0478", "tokens do not see their own key", "token i sees key i too",
        [](PromptRule& rule) { rule.last_seen = -1; });
    add("RL0478", "tokens see keys that come after them",
        "write minus infinity where token i does not see key j",
        [](PromptRule& rule) { rule.masks = false; });
    add("RL0480", "query heads are dealt to the key heads in turn",
        "query head h reads key/value head h / (query_heads / key_value_heads)",
        [](PromptRule& rule) { rule.takes_turns_with_keys = true; });
    add("RL0474", "rows and columns of the scores are swapped",
        "scores are (query_heads, length, length): a row for each token, a column for each key",
        [](PromptRule& rule) { rule.swaps_tokens = true; });
    return mistakes.take();
  }

 private:
  static PromptRule right(const Problem& problem) {
    return {.scale = real(problem.parameters, "scale")};
  }
};

// --- Step 2 --------------------------------------------------------------------------------------

struct SoftmaxRule {
  bool shifted = true;  ///< false: exponentials in fp32 without the maximum taken off
  bool normalised = true;
  bool of_two = false;  ///< 2^x for exp(x)
};

Expected softmax_of(const Problem& problem, const SoftmaxRule& rule) {
  constexpr double kRoundings = 16;  // of the exponential, the sum's steps apart
  const std::int64_t length = integer(problem.parameters, "length");
  const Numbers scores = widened(problem, "scores");
  Computed out{Numbers(scores.size()), Numbers(scores.size())};
  for (std::size_t row = 0; row < scores.size(); row += static_cast<std::size_t>(length)) {
    const std::span<const double> of_row(scores.data() + row, static_cast<std::size_t>(length));
    const double largest = *std::ranges::max_element(of_row);
    double sum = 0;
    for (std::size_t j = 0; j < of_row.size(); ++j) {
      const double shifted = rule.shifted ? of_row[j] - largest : of_row[j];
      const double power = rule.of_two ? std::exp2(shifted) : std::exp(shifted);
      out.value[row + j] = rule.shifted ? power : static_cast<double>(static_cast<float>(power));
      sum += out.value[row + j];
    }
    for (std::size_t j = 0; j < of_row.size(); ++j) {
      if (rule.normalised) out.value[row + j] /= sum;
      // The difference of two scores rounds relative to itself, and moves its exponential by that.
      const double moved = std::isinf(of_row[j]) ? 0 : std::abs(of_row[j] - largest);
      const double roundings = kRoundings + 2 * moved + std::sqrt(static_cast<double>(length));
      out.error[row + j] = roundings * kFloat32Unit * std::abs(out.value[row + j]);
    }
  }
  // What is below the smallest normal number may be flushed to zero.
  for (double& error : out.error) error += std::numeric_limits<float>::min();
  return stored("weights", ElementType::float32, std::move(out));
}

/// weights (rows, length): the softmax of each row of scores, some of which are minus infinity.
/// `score_mean` is the mean of the others, 0 where a case gives none; the exponential of 100 is
/// infinite in float.
class SoftmaxOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const std::int64_t rows = integer(parameters, "rows"), length = integer(parameters, "length");
    Problem problem{parameters, {}};
    constexpr double kSpread = 2;
    const double mean = set_default(problem.parameters, "score_mean", 0.0);
    Random random(seed);
    Numbers scores = normal_values(rows * length, kSpread, random);
    for (double& score : scores) score += mean;
    // As a causal mask leaves them: row r has r % length + 1 numbers, then none.
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t j = row % length + 1; j < length; ++j) scores[row * length + j] = kMasked;
    }
    problem.tensors.push_back(
        filled("scores", ElementType::float32, Role::input, {rows, length}, scores));
    problem.tensors.push_back(output("weights", ElementType::float32, {rows, length}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return {softmax_of(problem, {})};
  }

  Work work(const Values& parameters) const override {
    const auto elements =
        static_cast<double>(integer(parameters, "rows") * integer(parameters, "length"));
    return {{{"fp32", 4 * elements}}, 8 * elements};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    Mistakes mistakes(expect(problem));
    mistakes.add_not_finite(
        "RL0481",
        "exponentials overflow: the largest of the scores that go into exp is not subtracted",
        "take exp(score - largest score of the row): the quotient is the same, and no exponential "
        "exceeds 1",
        {softmax_of(problem, {.shifted = false})});
    mistakes.add("RL0482", "the exponentials are not divided by their sum",
                 "divide by the sum of exp(score - largest score) over the row",
                 {softmax_of(problem, {.normalised = false})});
    mistakes.add("RL0482", "powers of 2 stand where powers of e should",
                 "exp(x) is exp2(x * log2(e))", {softmax_of(problem, {.of_two = true})});
    return mistakes.take();
  }
};

// --- Step 3 --------------------------------------------------------------------------------------

Expected values_of(const Problem& problem, const PromptRule& rule) {
  const Prompt p = Prompt::read(problem.parameters);
  const Numbers weights = widened(problem, "weights"), values = widened(problem, "values");
  const auto size = static_cast<std::size_t>(p.length * p.query_heads * p.head_dim);
  Computed out{Numbers(size), Numbers(size)};
  for (std::int64_t i = 0; i < p.length; ++i) {
    for (std::int64_t h = 0; h < p.query_heads; ++h) {
      for (std::int64_t d = 0; d < p.head_dim; ++d) {
        double sum = 0, magnitude = 0;
        for (std::int64_t j = 0; j < p.length; ++j) {
          const std::int64_t at = rule.swaps_tokens ? p.score(h, j, i) : p.score(h, i, j);
          const double term = weights[at] * values[p.key(key_head_of(p, rule, h), j) + d];
          sum += term;
          magnitude += std::abs(term);
        }
        out.value[p.query(i, h) + d] = sum;
        out.error[p.query(i, h) + d] = sum_tolerance(p.length, kFloat32Unit, magnitude);
      }
    }
  }
  return stored("out", ElementType::float32, std::move(out));
}

/// out (length, query_heads, head_dim) of weights (query_heads, length, length) and values
/// (key_value_heads, length, head_dim).
class ValuesOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const Prompt p = Prompt::read(parameters);
    Problem problem{parameters, {}};
    draw_attention_scale(problem.parameters, "scale", p.head_dim, seed);
    Random random(seed);
    Numbers weights = normal_values(p.scores(), 1, random);
    for (std::int64_t h = 0; h < p.query_heads; ++h) {
      for (std::int64_t i = 0; i < p.length; ++i) {
        for (std::int64_t j = 0; j < p.length; ++j) {
          double& weight = weights[p.score(h, i, j)];
          weight = p.sees(i, j) ? std::abs(weight) / static_cast<double>(i + 1) : 0;
        }
      }
    }
    problem.tensors.push_back(filled("weights", ElementType::float32, Role::input,
                                     {p.query_heads, p.length, p.length}, weights));
    problem.tensors.push_back(random_tensor("values", ElementType::float32, Role::input,
                                            {p.key_heads, p.length, p.head_dim}, 1, random));
    problem.tensors.push_back(
        output("out", ElementType::float32, {p.length, p.query_heads, p.head_dim}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return {values_of(problem, {})};
  }

  Work work(const Values& parameters) const override { return work_of_product(parameters); }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    Mistakes mistakes(expect(problem));
    mistakes.add("RL0480", "query heads are dealt to the value heads in turn",
                 "query head h reads key/value head h / (query_heads / key_value_heads)",
                 {values_of(problem, {.takes_turns_with_keys = true})});
    mistakes.add("RL0474", "rows and columns of the weights are swapped",
                 "weights are (query_heads, length, length): a row for each token",
                 {values_of(problem, {.swaps_tokens = true})});
    return mistakes.take();
  }
};

ROOFLAB_ORACLE("attention_scores", ScoresOracle)
ROOFLAB_ORACLE("attention_softmax", SoftmaxOracle)
ROOFLAB_ORACLE("attention_values", ValuesOracle)

}  // namespace
}  // namespace rooflab
