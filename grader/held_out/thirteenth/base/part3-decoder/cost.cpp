#include "cost.h"

#include <algorithm>

using rooflab::Cost;

namespace {

using Count = std::int64_t;

bool is_local(const DecoderLayer& layer) { return layer.window > 0; }

// 1 + 2 + ... + n
Count triangle(Count n) { return n * (n + 1) / 2; }

// Pairs of the first `tokens` tokens of a text.
Count pairs_up_to(const DecoderLayer& layer, Count tokens) {
  if (!is_local(layer) || tokens <= layer.window) return triangle(tokens);
  return triangle(layer.window) + (tokens - layer.window) * layer.window;
}

// Tokens of a sequence whose keys and values some new query sees.
Count tokens_in_sight(const DecoderLayer& layer, const ForwardPass& pass) {
  if (!is_local(layer)) return pass.key_length;
  const Count reach = pass.query_length + layer.window - 1;  // back from the last query
  return std::min(reach, pass.key_length);
}

}  // namespace

std::int64_t query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass) {
  const Count all = pairs_up_to(layer, pass.key_length);
  const Count old = pairs_up_to(layer, pass.key_length - pass.query_length);
  return pass.batch * (all - old);
}

Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Count tokens = new_tokens(pass), bytes = layer.bytes_per_element;
  const Cost q = linear_cost(tokens, layer.hidden, query_width(layer), bytes);
  const Cost k = linear_cost(tokens, layer.hidden, key_value_width(layer), bytes);
  const Cost o = linear_cost(tokens, query_width(layer), layer.hidden, bytes);
  const Cost v = k;
  return q + k + v + o;
}

Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Count scores = query_key_pairs(layer, pass) * layer.query_heads;
  const Count rows_of_q = new_tokens(pass) * query_width(layer);
  const Count keys = pass.batch * tokens_in_sight(layer, pass) * key_value_width(layer);
  Cost cost;
  cost.macs = 2 * scores * layer.head_dim;
  cost.flops = 2 * cost.macs + 5 * scores;
  cost.bytes = (2 * rows_of_q + 2 * keys) * layer.bytes_per_element;
  return cost;
}

Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Count tokens = new_tokens(pass), bytes = layer.bytes_per_element;
  Cost total = geglu_cost(layer, tokens);
  for (int twice = 0; twice < 2; ++twice) {
    total = total + linear_cost(tokens, layer.hidden, layer.intermediate, bytes);
  }
  return total + linear_cost(tokens, layer.intermediate, layer.hidden, bytes);
}

Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Count tokens = new_tokens(pass), bytes = layer.bytes_per_element;
  Cost total = projections_cost(layer, pass) + attention_cost(layer, pass) + mlp_cost(layer, pass);
  total = total + rope_cost(layer, pass);
  total = total + residual_cost(layer, pass) + residual_cost(layer, pass);
  for (int norm = 0; norm < 4; ++norm) total = total + rmsnorm_cost(tokens, layer.hidden, bytes);
  total = total + rmsnorm_cost(tokens * layer.query_heads, layer.head_dim, bytes);
  total = total + rmsnorm_cost(tokens * layer.key_value_heads, layer.head_dim, bytes);
  return total;
}

Cost prefill_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  ForwardPass pass;
  pass.batch = batch;
  pass.query_length = pass.key_length = length;
  return layer_cost(layer, pass);
}

Cost decode_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  ForwardPass pass;
  pass.batch = batch;
  pass.query_length = 1;
  pass.key_length = length;
  return layer_cost(layer, pass);
}

std::int64_t kv_cache_bytes(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  const Count kept = is_local(layer) ? std::min(length, layer.window) : length;
  const Count of_token = 2 * key_value_width(layer);
  return batch * kept * of_token * layer.bytes_per_element;
}
