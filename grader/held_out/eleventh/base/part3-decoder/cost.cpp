#include "cost.h"

#include <algorithm>

using rooflab::Cost;

namespace {

using Count = std::int64_t;

// How many keys the query at position `p` sees.
Count seen_from(const DecoderLayer& layer, Count p) {
  const Count all = p + 1;
  if (layer.window == 0) return all;
  return std::min(all, layer.window);
}

// How many keys of a sequence at least one of its queries sees.
Count keys_needed(const DecoderLayer& layer, const ForwardPass& pass) {
  if (layer.window == 0) return pass.key_length;
  const Count reach = layer.window + pass.query_length - 1;
  return std::min(pass.key_length, reach);
}

}  // namespace

std::int64_t query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass) {
  const Count first = pass.key_length - pass.query_length;
  Count pairs = 0;
  for (Count p = first; p < pass.key_length; ++p) pairs += seen_from(layer, p);
  return pass.batch * pairs;
}

Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Count tokens = new_tokens(pass);
  const Count wide = query_width(layer);
  const Count narrow = key_value_width(layer);
  const Cost q = linear_cost(tokens, layer.hidden, wide, layer.bytes_per_element);
  const Cost k = linear_cost(tokens, layer.hidden, narrow, layer.bytes_per_element);
  const Cost o = linear_cost(tokens, wide, layer.hidden, layer.bytes_per_element);
  return q + k + k + o;
}

Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Count scores = query_key_pairs(layer, pass) * layer.query_heads;
  const Count steps = 2 * layer.head_dim;
  const Count queries = new_tokens(pass) * query_width(layer);
  const Count keys = pass.batch * keys_needed(layer, pass) * key_value_width(layer);
  Cost cost;
  cost.macs = scores * steps;
  cost.flops = 2 * cost.macs + 5 * scores;
  cost.bytes = 2 * (queries + keys) * layer.bytes_per_element;
  return cost;
}

Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Count tokens = new_tokens(pass);
  const Cost widen = linear_cost(tokens, layer.hidden, layer.intermediate, layer.bytes_per_element);
  const Cost narrow =
      linear_cost(tokens, layer.intermediate, layer.hidden, layer.bytes_per_element);
  return widen + widen + geglu_cost(layer, tokens) + narrow;
}

Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Count tokens = new_tokens(pass);
  const Count width = layer.bytes_per_element;
  Cost total = projections_cost(layer, pass) + attention_cost(layer, pass) + mlp_cost(layer, pass);
  total = total + rope_cost(layer, pass);
  for (int i = 0; i < 2; ++i) total = total + residual_cost(layer, pass);
  for (int i = 0; i < 4; ++i) total = total + rmsnorm_cost(tokens, layer.hidden, width);
  total = total + rmsnorm_cost(tokens * layer.query_heads, layer.head_dim, width);
  return total + rmsnorm_cost(tokens * layer.key_value_heads, layer.head_dim, width);
}

Cost prefill_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  return layer_cost(layer, {.batch = batch, .query_length = length, .key_length = length});
}

Cost decode_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  return layer_cost(layer, {.batch = batch, .query_length = 1, .key_length = length});
}

std::int64_t kv_cache_bytes(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  const Count kept = layer.window > 0 ? std::min(layer.window, length) : length;
  const Count of_token = 2 * key_value_width(layer) * layer.bytes_per_element;
  return batch * kept * of_token;
}
