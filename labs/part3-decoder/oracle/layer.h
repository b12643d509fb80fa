#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "labs/part3-decoder/oracle/operations.h"

/// One Gemma-3 decoder layer in fp64. It keeps the keys and values of all tokens so far and has no
/// ring: a window is a matter of which keys a query looks at.
namespace rooflab {

struct LayerShape {
  std::int64_t hidden, intermediate, query_heads, key_value_heads, head_dim, window;
  double theta;
  double epsilon = kGemmaEpsilon;
  double attention_scale = 0;  ///< 0: 1 / sqrt(head_dim)

  double scale() const {
    return attention_scale > 0 ? attention_scale : 1 / std::sqrt(static_cast<double>(head_dim));
  }
};

/// By the names of the student's LayerWeights.
using LayerWeights = std::map<std::string, Numbers>;

/// The keys and values of the tokens 0 … capacity - 1, (batch, key_value_heads, capacity,
/// head_dim): keys normed and turned.
struct History {
  Numbers keys, values;
  std::int64_t capacity = 0;
};

/// How the layer is put together. The defaults are right.
struct LayerRule {
  WeightFactor factor = one_plus;
  bool input_norm = true;
  bool post_attention_norm = true;
  bool pre_feedforward_norm = true;
  bool post_feedforward_norm = true;
  bool residual_inside_norm = false;  ///< norm(h + f(h)) instead of h + norm(f(h))
  bool llama_order = false;  ///< post_attention_norm before the MLP, nothing after either block
  bool residual = true;
  bool query_norm = true;
  bool key_norm = true;
  const char* query_norm_weight = "q_norm";
  const char* key_norm_weight = "k_norm";
  bool value_norm = false;
  bool query_turned_first = false;  ///< RoPE before the norm
  bool key_turned_first = false;
  bool query_turned = true;
  bool key_turned = true;
  RopeRule rope{.theta = 0};      ///< theta 0: the layer's
  double epsilon = 0;             ///< 0: the layer's
  bool positions_from_0 = false;  ///< RoPE takes a token's place in its call for its position
  bool gate_and_up_swapped = false;
  double scale_factor = 1;  ///< on top of the layer's
  std::int64_t window_change = 0;
  bool ignores_window = false;
  bool misses_new_token = false;  ///< attention reads what the history held before the call
  std::int64_t ring = 0;  ///< > 0: keys and values come from a ring of that many slots, all stored
                          ///< before the first is read
};

/// What a layer gives, and how far off fp32 arithmetic and storage in between may make it, without
/// the last rounding. Queries, keys and values are those of the call.
struct LayerResult {
  Computed hidden;   // (batch, length, hidden)
  Computed queries;  // (batch, length, query_heads, head_dim)
  Computed keys;     // (batch, length, key_value_heads, head_dim)
  Computed values;   // (batch, length, key_value_heads, head_dim)
};

/// Runs the layer on `hidden` (batch, length, hidden), tokens at `first_position` and after, and
/// puts their keys and values into `history`.
/// @param unit what one stored value is off by, relative to its size: intermediate_unit()
LayerResult run_layer(const Numbers& hidden, std::int64_t batch, std::int64_t first_position,
                      const LayerShape& shape, const LayerWeights& weights, History& history,
                      double unit, const LayerRule& rule = {});

/// What attention works with.
struct LayerProjections {
  Numbers q, k, v;  // (batch, length, heads, head_dim)
};

/// The steps of the layer by themselves, whose inputs are exact: queries, keys and values of
/// `hidden`; attention over the history, which gets the keys and values, added to `hidden`; and the
/// MLP's result added to it.
LayerResult run_projections(const Numbers& hidden, std::int64_t batch, std::int64_t first_position,
                            const LayerShape& shape, const LayerWeights& weights, double unit,
                            const LayerRule& rule = {});
Computed run_attention(const Numbers& hidden, const LayerProjections& projected, std::int64_t batch,
                       std::int64_t first_position, const LayerShape& shape,
                       const LayerWeights& weights, History& history, double unit,
                       const LayerRule& rule = {});
Computed run_mlp(const Numbers& hidden, const LayerShape& shape, const LayerWeights& weights,
                 double unit, const LayerRule& rule = {});

/// The typical rounding of one intermediate result of a layer, relative to the size of its tensor.
double intermediate_unit(ElementType type, const LayerShape& shape);

}  // namespace rooflab
