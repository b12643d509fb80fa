#include "labs/part3-decoder/oracle/layer_mistakes.h"

#include <cmath>

#include "labs/oracle_support/known_mistakes.h"

namespace rooflab {
namespace {

class LayerMistakes {
 public:
  LayerMistakes(const LayerShape& shape, std::int64_t capacity, const LayerOutputs& outputs)
      : shape_(shape), capacity_(capacity), outputs_(outputs), mistakes_(outputs({}, true)) {}

  std::vector<KnownMistake> all() {
    add_wrong_norms();
    add_wrong_residuals();
    add_wrong_heads();
    add_wrong_rotations();
    add_wrong_attention();
    add_wrong_caches();
    add("RL0470", "gate and up are swapped", "out = gelu(gate) * up, in that order",
        [](LayerRule& rule) { rule.gate_and_up_swapped = true; });
    return mistakes_.take();
  }

 private:
  /// One mistake that `change` makes of the right rule.
  template <typename Change>
  void add(Code code, const char* cause, const char* advice, const Change& change,
           bool stores_keys = true) {
    LayerRule rule;
    change(rule);
    mistakes_.add(code, cause, advice, outputs_(rule, stores_keys));
  }

  void add_wrong_norms() {
    constexpr const char* kAdvice =
        "a layer has four norms: before attention, after it, before the MLP and after it";
    const auto without = [&](const char* cause, bool LayerRule::*norm) {
      add("RL0483", cause, kAdvice, [=](LayerRule& rule) { rule.*norm = false; });
    };
    without("the norm before attention is missing", &LayerRule::input_norm);
    without("the norm after attention is missing", &LayerRule::post_attention_norm);
    without("the norm before the MLP is missing", &LayerRule::pre_feedforward_norm);
    without("the norm after the MLP is missing", &LayerRule::post_feedforward_norm);
    add("RL0483", "the norms after attention and after the MLP are missing", kAdvice,
        [](LayerRule& rule) {
          rule.post_attention_norm = false;
          rule.post_feedforward_norm = false;
        });
    add("RL0483",
        "the norms stand as in Llama, with post_attention_norm before the MLP and none after",
        kAdvice, [](LayerRule& rule) { rule.llama_order = true; });
    add("RL0460", "norms multiply by the weight instead of by 1 + weight",
        "Gemma's weights are stored as what is added to 1: multiply by (1 + weight)",
        [](LayerRule& rule) { rule.factor = [](double weight) { return weight; }; });
    add(kFixedEpsilon.code, kFixedEpsilon.cause,
        "pass shape.epsilon on to every norm: every model has its own",
        [](LayerRule& rule) { rule.epsilon = kGemmaEpsilon; });
  }

  void add_wrong_residuals() {
    constexpr const char* kAdvice = "h += norm(block(h)): norm first, then add";
    add("RL0484", "the residual is added before the norm instead of after it", kAdvice,
        [](LayerRule& rule) { rule.residual_inside_norm = true; });
    add("RL0484", "the residual is not added", kAdvice,
        [](LayerRule& rule) { rule.residual = false; });
  }

  void add_wrong_heads() {
    // What is wrong with one of the two comes first: where a step returns both, a mistake in both
    // would explain it as well.
    constexpr const char* kAdvice =
        "each head of q and of k is normed over head_dim, after the projection and before RoPE";
    const auto with = [&](const char* cause, bool query, bool key) {
      add("RL0485", cause, kAdvice, [=](LayerRule& rule) {
        rule.query_norm = query;
        rule.key_norm = key;
      });
    };
    with("q is not normed", false, true);
    with("k is not normed", true, false);
    with("q and k are not normed", false, false);
    constexpr const char* kOwn =
        "q has the weight q_norm, k has k_norm, and both are in LayerWeights";
    add("RL0485", "k is normed with q's weight, q_norm", kOwn,
        [](LayerRule& rule) { rule.key_norm_weight = "q_norm"; });
    add("RL0485", "q is normed with k's weight, k_norm", kOwn,
        [](LayerRule& rule) { rule.query_norm_weight = "k_norm"; });
    add("RL0485", "q and k are normed with each other's weight", kOwn, [](LayerRule& rule) {
      rule.query_norm_weight = "k_norm";
      rule.key_norm_weight = "q_norm";
    });
    const auto turned_first = [&](const char* cause, bool query, bool key) {
      add("RL0486", cause, kAdvice, [=](LayerRule& rule) {
        rule.query_turned_first = query;
        rule.key_turned_first = key;
      });
    };
    turned_first("q is rotated before it is normed", true, false);
    turned_first("k is rotated before it is normed", false, true);
    turned_first("q and k are rotated before they are normed", true, true);
    add("RL0487", "v is normed as k is", "v is only projected",
        [](LayerRule& rule) { rule.value_norm = true; });
  }

  void add_wrong_rotations() {
    for (const double theta : {10000.0, 1000000.0}) {
      add("RL0467", "the angles belong to another theta",
          "use the layer's theta: local and global layers have different ones",
          [=](LayerRule& rule) { rule.rope.theta = theta; });
    }
    add("RL0466", "q and k are rotated as if the first token stood at position 0",
        "pass the token's position on: it is in device memory, in `positions`",
        [](LayerRule& rule) { rule.positions_from_0 = true; });
    const auto not_rotated = [&](const char* cause, bool query, bool key) {
      add("RL0485", cause, "RoPE comes after the norm of q and k and before the cache",
          [=](LayerRule& rule) {
            rule.query_turned = !query;
            rule.key_turned = !key;
          });
    };
    not_rotated("q is not rotated", true, false);
    not_rotated("k is not rotated", false, true);
    not_rotated("q and k are not rotated", true, true);
  }

  void add_wrong_attention() {
    const double depth = static_cast<double>(shape_.head_dim);
    constexpr const char* kScale = "multiply each dot product of q and k by the scale, once";
    const double scale = shape_.scale();
    const auto with = [&](const char* cause, double wrong) {
      add("RL0475", cause, kScale, [=](LayerRule& rule) { rule.scale_factor = wrong / scale; });
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
    constexpr const char* kWindow =
        "a window of W has W keys, the query's own among them: from max(0, p - W + 1) to p";
    add("RL0476", "the window is one key too long", kWindow,
        [](LayerRule& rule) { rule.window_change = 1; });
    if (shape_.window > 1) {
      add("RL0476", "the window is one key too short", kWindow,
          [](LayerRule& rule) { rule.window_change = -1; });
    }
    add("RL0477", "the window is ignored: queries see all earlier keys", kWindow,
        [](LayerRule& rule) { rule.ignores_window = true; });
  }

  void add_wrong_caches() {
    if (capacity_ == 0) return;
    constexpr const char* kAdvice =
        "put the new token's key and value into the cache before attention reads it";
    for (const bool stores_keys : {true, false}) {
      add(
          "RL0488",
          stores_keys ? "attention runs before the new token is in the cache"
                      : "the new token never gets into the cache",
          kAdvice, [](LayerRule& rule) { rule.misses_new_token = true; }, stores_keys);
    }
    add("RL0489", "a prompt attends over the ring, which keeps only its last tokens",
        "the first queries of a prompt need keys that later tokens replace in the ring: attend "
        "over the prompt's own keys and values, and fill the ring besides",
        [this](LayerRule& rule) { rule.ring = capacity_; });
  }

  const LayerShape& shape_;
  std::int64_t capacity_;
  const LayerOutputs& outputs_;
  Mistakes mistakes_;
};

}  // namespace

std::vector<KnownMistake> layer_mistakes(const LayerShape& shape, std::int64_t capacity,
                                         const LayerOutputs& outputs) {
  return LayerMistakes(shape, capacity, outputs).all();
}

}  // namespace rooflab
