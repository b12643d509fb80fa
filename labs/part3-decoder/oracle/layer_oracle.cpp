#include <cmath>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/lent.h"
#include "labs/oracle_support/parameters.h"
#include "labs/part3-decoder/oracle/layer_case.h"
#include "labs/part3-decoder/oracle/tensors.h"

namespace rooflab {
namespace {

/// A decoder layer on the tensors of layer_case.h.
class LayerOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    return make_layer_problem(parameters, seed);
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return layer_outputs(problem);
  }

  Work work(const Values& parameters) const override {
    return layer_work(read_layer_case(parameters));
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    return judges_structure(problem.parameters) ? complaints_of_lent(evidence)
                                                : std::vector<Complaint>{};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    const Case c{problem, read_layer_case(problem.parameters)};
    // Some thirty layers, each of which may take a second: small cases tell mistakes as well.
    constexpr double kMostFlops = 1e9;
    if (all_flops(layer_work(c.layer)) > kMostFlops) return {};
    Mistakes mistakes(expect(problem));
    add_wrong_norms(c, mistakes);
    add_wrong_residuals(c, mistakes);
    add_wrong_heads(c, mistakes);
    add_wrong_rotations(c, mistakes);
    add_wrong_attention(c, mistakes);
    add_wrong_caches(c, mistakes);
    add(c, mistakes, "RL0470", "gate and up are swapped", "out = gelu(gate) * up, in that order",
        [](LayerRule& rule) { rule.gate_and_up_swapped = true; });
    return mistakes.take();
  }

 private:
  struct Case {
    const Problem& problem;
    LayerCase layer;
  };

  static double all_flops(const Work& work) {
    double sum = 0;
    for (const auto& [peak, flops] : work.flops) sum += flops;
    return sum;
  }

  /// One mistake that `change` makes of the right rule.
  template <typename Change>
  static void add(const Case& c, Mistakes& mistakes, Code code, const char* cause,
                  const char* advice, const Change& change, bool stores_keys = true) {
    LayerRule rule;
    change(rule);
    mistakes.add(code, cause, advice, layer_outputs(c.problem, rule, stores_keys));
  }

  static void add_wrong_norms(const Case& c, Mistakes& mistakes) {
    constexpr const char* kAdvice =
        "a layer has four norms: before attention, after it, before the MLP and after it";
    const auto without = [&](const char* cause, bool LayerRule::*norm) {
      add(c, mistakes, "RL0483", cause, kAdvice, [=](LayerRule& rule) { rule.*norm = false; });
    };
    without("the norm before attention is missing", &LayerRule::input_norm);
    without("the norm after attention is missing", &LayerRule::post_attention_norm);
    without("the norm before the MLP is missing", &LayerRule::pre_feedforward_norm);
    without("the norm after the MLP is missing", &LayerRule::post_feedforward_norm);
    add(c, mistakes, "RL0483", "the norms after attention and after the MLP are missing", kAdvice,
        [](LayerRule& rule) {
          rule.post_attention_norm = false;
          rule.post_feedforward_norm = false;
        });
    add(c, mistakes, "RL0483",
        "the norms stand as in Llama, with post_attention_norm before the MLP and none after",
        kAdvice, [](LayerRule& rule) { rule.llama_order = true; });
    add(c, mistakes, "RL0460", "norms multiply by the weight instead of by 1 + weight",
        "Gemma's weights are stored as what is added to 1: multiply by (1 + weight)",
        [](LayerRule& rule) { rule.factor = [](double weight) { return weight; }; });
    add(c, mistakes, kFixedEpsilon.code, kFixedEpsilon.cause,
        "pass shape.epsilon on to every norm: every model has its own",
        [](LayerRule& rule) { rule.epsilon = kGemmaEpsilon; });
  }

  static void add_wrong_residuals(const Case& c, Mistakes& mistakes) {
    constexpr const char* kAdvice = "h += norm(block(h)): norm first, then add";
    add(c, mistakes, "RL0484", "the residual is added before the norm instead of after it", kAdvice,
        [](LayerRule& rule) { rule.residual_inside_norm = true; });
    add(c, mistakes, "RL0484", "the residual is not added", kAdvice,
        [](LayerRule& rule) { rule.residual = false; });
  }

  static void add_wrong_heads(const Case& c, Mistakes& mistakes) {
    constexpr const char* kAdvice =
        "each head of q and of k is normed over head_dim, after the projection and before RoPE";
    const auto with = [&](const char* cause, bool query, bool key) {
      add(c, mistakes, "RL0485", cause, kAdvice, [=](LayerRule& rule) {
        rule.query_norm = query;
        rule.key_norm = key;
      });
    };
    with("q and k are not normed", false, false);
    with("q is not normed", false, true);
    with("k is not normed", true, false);
    constexpr const char* kOwn =
        "q has the weight q_norm, k has k_norm, and both are in LayerWeights";
    add(c, mistakes, "RL0485", "k is normed with q's weight, q_norm", kOwn,
        [](LayerRule& rule) { rule.key_norm_weight = "q_norm"; });
    add(c, mistakes, "RL0485", "q is normed with k's weight, k_norm", kOwn,
        [](LayerRule& rule) { rule.query_norm_weight = "k_norm"; });
    add(c, mistakes, "RL0485", "q and k are normed with each other's weight", kOwn,
        [](LayerRule& rule) {
          rule.query_norm_weight = "k_norm";
          rule.key_norm_weight = "q_norm";
        });
    const auto turned_first = [&](const char* cause, bool query, bool key) {
      add(c, mistakes, "RL0486", cause, kAdvice, [=](LayerRule& rule) {
        rule.query_turned_first = query;
        rule.key_turned_first = key;
      });
    };
    turned_first("q and k are turned before they are normed", true, true);
    turned_first("q is turned before it is normed", true, false);
    turned_first("k is turned before it is normed", false, true);
    add(c, mistakes, "RL0487", "v is normed as k is", "v is only projected",
        [](LayerRule& rule) { rule.value_norm = true; });
  }

  static void add_wrong_rotations(const Case& c, Mistakes& mistakes) {
    for (const double theta : {10000.0, 1000000.0}) {
      add(c, mistakes, "RL0467", "the angles belong to another theta",
          "use the layer's theta: local and global layers have different ones",
          [=](LayerRule& rule) { rule.rope.theta = theta; });
    }
    add(c, mistakes, "RL0466", "decode turns q and k as if the token stood at position 0",
        "pass the token's position on: it is in device memory, in `positions`",
        [](LayerRule& rule) { rule.positions_from_0 = true; });
    add(c, mistakes, "RL0485", "q and k are not turned",
        "RoPE comes after the norm of q and k and before the cache",
        [](LayerRule& rule) { rule.turned = false; });
  }

  static void add_wrong_attention(const Case& c, Mistakes& mistakes) {
    const double depth = static_cast<double>(c.layer.shape.head_dim);
    constexpr const char* kScale = "multiply each dot product of q and k by the scale, once";
    const double scale = c.layer.shape.scale();
    const auto with = [&](const char* cause, double wrong) {
      add(c, mistakes, "RL0475", cause, kScale,
          [=](LayerRule& rule) { rule.scale_factor = wrong / scale; });
    };
    with("scores are not scaled", 1);
    with("scores are multiplied by 1 / sqrt(head_dim) instead of by the scale",
         1 / std::sqrt(depth));
    with("scores are multiplied by the square of the scale: twice", scale * scale);
    with("scores are multiplied by 1 / head_dim", 1 / depth);
    constexpr const char* kWindow =
        "a window of W has W keys, the query's own among them: from max(0, p - W + 1) to p";
    add(c, mistakes, "RL0476", "the window is one key too long", kWindow,
        [](LayerRule& rule) { rule.window_change = 1; });
    if (c.layer.shape.window > 1) {
      add(c, mistakes, "RL0476", "the window is one key too short", kWindow,
          [](LayerRule& rule) { rule.window_change = -1; });
    }
    add(c, mistakes, "RL0477", "the window is ignored: queries see all earlier keys", kWindow,
        [](LayerRule& rule) { rule.ignores_window = true; });
  }

  static void add_wrong_caches(const Case& c, Mistakes& mistakes) {
    if (!c.layer.has_cache()) return;
    constexpr const char* kAdvice =
        "put the new token's key and value into the cache before attention reads it";
    for (const bool stores_keys : {true, false}) {
      add(
          c, mistakes, "RL0488",
          stores_keys ? "attention runs before the new token is in the cache"
                      : "the new token never gets into the cache",
          kAdvice, [](LayerRule& rule) { rule.misses_new_token = true; }, stores_keys);
    }
    add(c, mistakes, "RL0489", "a prompt attends over the ring, which keeps only its last tokens",
        "the first queries of a prompt need keys that later tokens replace in the ring: attend "
        "over "
        "the prompt's own keys and values, and fill the ring beside",
        [&](LayerRule& rule) { rule.ring = c.layer.capacity; });
  }
};

ROOFLAB_ORACLE("layer", LayerOracle)

}  // namespace
}  // namespace rooflab
