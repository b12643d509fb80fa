#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/random.h"
#include "labs/part3-decoder/oracle/layer.h"

/// A case of the layer task: what its parameters mean, its tensors, and what a rule makes of them.
namespace rooflab {

/// function = "prefill": `length` tokens from position 0 on. "decode": the token at position
/// length - 1, after length - 1 tokens whose keys and values are in the cache.
/// "decode_without_cache": the layer over `length` tokens, without a cache. "prefill_then_decode":
/// a prefill of `length` tokens and `decode_steps` calls of one token. `theta`, `epsilon` and
/// `attention_scale` are drawn where a case does not give them.
struct LayerCase {
  std::string function;
  std::int64_t batch, length, decode_steps, capacity;
  LayerShape shape;
  ElementType type;

  bool has_cache() const { return function != "decode_without_cache"; }
  std::int64_t all_tokens() const { return length + decode_steps; }
  /// Position of the first token of the first call.
  std::int64_t first_position() const { return function == "decode" ? length - 1 : 0; }
};

/// The sizes, and theta, epsilon and scale where they are given.
/// @throws std::invalid_argument naming the parameter that is missing or does not fit
LayerShape read_layer_shape(const Values& parameters);

/// Draws theta, epsilon and scale where a case does not give them.
void draw_layer_numbers(Values& parameters, std::uint64_t seed);

/// The weights by the names of LayerWeights, as tensors and as numbers.
void add_layer_weights(Problem& problem, const LayerShape& shape, ElementType type, Random& random);
LayerWeights widened_layer_weights(const Problem& problem, const LayerShape& shape);

/// @throws std::invalid_argument naming the parameter that is missing or does not fit
LayerCase read_layer_case(const Values& parameters);

/// hidden (batch, length or 1, hidden), decode_hidden (decode_steps, batch, 1, hidden) where there
/// are such steps, positions, the weights by the names of LayerWeights, and keys and values (batch,
/// key_value_heads, capacity, head_dim) where there is a cache.
Problem make_layer_problem(const Values& parameters, std::uint64_t seed);

/// The contents of keys, values, hidden and decode_hidden after the call. With `rule` the layer
/// departs from what is right; `stores_keys` false leaves decoded tokens out of the cache.
std::vector<Expected> layer_outputs(const Problem& problem, const LayerRule& rule = {},
                                    bool stores_keys = true);

/// Work of the whole call.
Work layer_work(const LayerCase& c);

}  // namespace rooflab
