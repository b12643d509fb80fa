#include "cost.h"

#include <algorithm>

using rooflab::Cost;
using i64 = std::int64_t;

// for p in range(key_length - query_length, key_length): pairs += min(p + 1, window or p + 1)
i64 query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass) {
  i64 pairs = 0;
  for (i64 p = pass.key_length - pass.query_length; p < pass.key_length; ++p) {
    const i64 seen = p + 1;
    pairs += layer.window > 0 ? std::min(seen, layer.window) : seen;
  }
  return pairs * pass.batch;
}

Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const i64 t = new_tokens(pass), b = layer.bytes_per_element;
  const Cost q = linear_cost(t, layer.hidden, query_width(layer), b);
  const Cost k = linear_cost(t, layer.hidden, key_value_width(layer), b);
  const Cost v = k;
  const Cost o = linear_cost(t, query_width(layer), layer.hidden, b);
  return q + k + v + o;
}

Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const i64 pairs = query_key_pairs(layer, pass) * layer.query_heads;
  i64 keys = pass.key_length;
  if (layer.window > 0) keys = std::min(keys, layer.window + pass.query_length - 1);
  Cost c;
  c.macs = 2 * pairs * layer.head_dim;
  c.flops = 2 * c.macs + 5 * pairs;
  const i64 q_and_out = 2 * new_tokens(pass) * query_width(layer);
  const i64 k_and_v = 2 * pass.batch * keys * key_value_width(layer);
  c.bytes = (q_and_out + k_and_v) * layer.bytes_per_element;
  return c;
}

Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const i64 t = new_tokens(pass), b = layer.bytes_per_element;
  const Cost up = linear_cost(t, layer.hidden, layer.intermediate, b);
  const Cost down = linear_cost(t, layer.intermediate, layer.hidden, b);
  return up + up + geglu_cost(layer, t) + down;
}

Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const i64 t = new_tokens(pass), b = layer.bytes_per_element;
  Cost total = projections_cost(layer, pass) + attention_cost(layer, pass) + mlp_cost(layer, pass);
  total = total + rope_cost(layer, pass);
  for (int i = 0; i < 2; ++i) total = total + residual_cost(layer, pass);
  for (int i = 0; i < 4; ++i) total = total + rmsnorm_cost(t, layer.hidden, b);
  total = total + rmsnorm_cost(t * layer.query_heads, layer.head_dim, b);
  total = total + rmsnorm_cost(t * layer.key_value_heads, layer.head_dim, b);
  return total;
}

Cost prefill_cost(const DecoderLayer& layer, i64 batch, i64 length) {
  return layer_cost(layer, {.batch = batch, .query_length = length, .key_length = length});
}

Cost decode_cost(const DecoderLayer& layer, i64 batch, i64 length) {
  return layer_cost(layer, {.batch = batch, .query_length = 1, .key_length = length});
}

i64 kv_cache_bytes(const DecoderLayer& layer, i64 batch, i64 length) {
  const i64 kept = layer.window > 0 ? std::min(length, layer.window) : length;
  return 2 * batch * kept * key_value_width(layer) * layer.bytes_per_element;
}
