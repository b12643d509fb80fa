#include "cost.h"

#include <algorithm>

using rooflab::Cost;

namespace {

// Keys that the first `tokens` tokens of a text see, added up.
std::int64_t seen_by_first(std::int64_t tokens, std::int64_t window) {
  if (window == 0 || tokens <= window) return tokens * (tokens + 1) / 2;
  const std::int64_t growing = window * (window + 1) / 2;
  return growing + (tokens - window) * window;
}

// Keys that at least one of the new tokens sees.
std::int64_t keys_in_use(const DecoderLayer& layer, const ForwardPass& pass) {
  if (layer.window == 0) return pass.key_length;
  return std::min(pass.key_length, pass.query_length + layer.window - 1);
}

}  // namespace

std::int64_t query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t old = pass.key_length - pass.query_length;
  const std::int64_t pairs =
      seen_by_first(pass.key_length, layer.window) - seen_by_first(old, layer.window);
  return pass.batch * pairs;
}

Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t tokens = new_tokens(pass);
  const std::int64_t size = layer.bytes_per_element;
  const Cost q = linear_cost(tokens, layer.hidden, query_width(layer), size);
  const Cost k = linear_cost(tokens, layer.hidden, key_value_width(layer), size);
  const Cost v = k;
  const Cost o = linear_cost(tokens, query_width(layer), layer.hidden, size);
  return q + k + v + o;
}

Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t pairs = query_key_pairs(layer, pass) * layer.query_heads;
  const std::int64_t queries = new_tokens(pass) * query_width(layer);
  const std::int64_t keys = pass.batch * keys_in_use(layer, pass) * key_value_width(layer);
  Cost cost;
  cost.macs = 2 * pairs * layer.head_dim;
  cost.flops = 2 * cost.macs + 5 * pairs;
  cost.bytes = (2 * queries + 2 * keys) * layer.bytes_per_element;
  return cost;
}

Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t tokens = new_tokens(pass);
  const Cost rising =
      linear_cost(tokens, layer.hidden, layer.intermediate, layer.bytes_per_element);
  const Cost falling =
      linear_cost(tokens, layer.intermediate, layer.hidden, layer.bytes_per_element);
  return rising + rising + geglu_cost(layer, tokens) + falling;
}

Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t tokens = new_tokens(pass);
  const std::int64_t size = layer.bytes_per_element;
  Cost total = projections_cost(layer, pass) + attention_cost(layer, pass) + mlp_cost(layer, pass);
  total = total + rope_cost(layer, pass);
  for (int i = 0; i < 2; ++i) total = total + residual_cost(layer, pass);
  for (int i = 0; i < 4; ++i) total = total + rmsnorm_cost(tokens, layer.hidden, size);
  total = total + rmsnorm_cost(tokens * layer.query_heads, layer.head_dim, size);
  total = total + rmsnorm_cost(tokens * layer.key_value_heads, layer.head_dim, size);
  return total;
}

Cost prefill_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  return layer_cost(layer, {.batch = batch, .query_length = length, .key_length = length});
}

Cost decode_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  return layer_cost(layer, {.batch = batch, .query_length = 1, .key_length = length});
}

std::int64_t kv_cache_bytes(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  const std::int64_t kept = layer.window > 0 ? std::min(layer.window, length) : length;
  const std::int64_t of_token = 2 * key_value_width(layer) * layer.bytes_per_element;
  return batch * kept * of_token;
}
