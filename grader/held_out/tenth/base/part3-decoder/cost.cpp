#include "cost.h"

#include <algorithm>

using rooflab::Cost;

namespace {
// keys of one query at position p
std::int64_t seen_by(const DecoderLayer& layer, std::int64_t p) {
  const std::int64_t all = p + 1;
  return layer.window == 0 ? all : std::min(all, layer.window);
}
}  // namespace

std::int64_t query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass) {
  std::int64_t pairs = 0;
  for (std::int64_t p = pass.key_length - pass.query_length; p < pass.key_length; ++p) {
    pairs += seen_by(layer, p);
  }
  return pairs * pass.batch;
}

Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const auto t = new_tokens(pass);
  const auto b = layer.bytes_per_element;
  const Cost q = linear_cost(t, layer.hidden, query_width(layer), b);
  const Cost kv = linear_cost(t, layer.hidden, key_value_width(layer), b);
  const Cost o = linear_cost(t, query_width(layer), layer.hidden, b);
  return q + kv + kv + o;
}

Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t head_pairs = query_key_pairs(layer, pass) * layer.query_heads;
  Cost c;
  c.macs = 2 * head_pairs * layer.head_dim;
  c.flops = 2 * c.macs + 5 * head_pairs;
  // the oldest new token sees furthest back
  const std::int64_t first = pass.key_length - pass.query_length;
  const std::int64_t oldest = first + 1 - seen_by(layer, first);
  const std::int64_t keys = pass.batch * (pass.key_length - oldest);
  const std::int64_t elements =
      2 * new_tokens(pass) * query_width(layer) + 2 * keys * key_value_width(layer);
  c.bytes = elements * layer.bytes_per_element;
  return c;
}

Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const auto t = new_tokens(pass);
  const Cost up = linear_cost(t, layer.hidden, layer.intermediate, layer.bytes_per_element);
  const Cost down = linear_cost(t, layer.intermediate, layer.hidden, layer.bytes_per_element);
  return up + up + geglu_cost(layer, t) + down;
}

Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const auto t = new_tokens(pass);
  const auto b = layer.bytes_per_element;
  Cost total = projections_cost(layer, pass) + attention_cost(layer, pass) + mlp_cost(layer, pass);
  total = total + rope_cost(layer, pass);
  for (int twice = 0; twice < 2; ++twice) total = total + residual_cost(layer, pass);
  for (int norm = 0; norm < 4; ++norm) total = total + rmsnorm_cost(t, layer.hidden, b);
  total = total + rmsnorm_cost(t * layer.query_heads, layer.head_dim, b);
  total = total + rmsnorm_cost(t * layer.key_value_heads, layer.head_dim, b);
  return total;
}

Cost prefill_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  return layer_cost(layer, {.batch = batch, .query_length = length, .key_length = length});
}

Cost decode_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  return layer_cost(layer, {.batch = batch, .query_length = 1, .key_length = length});
}

std::int64_t kv_cache_bytes(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  const std::int64_t kept = seen_by(layer, length - 1);
  return 2 * batch * kept * key_value_width(layer) * layer.bytes_per_element;
}
