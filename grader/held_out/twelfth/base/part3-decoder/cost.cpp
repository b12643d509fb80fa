#include "cost.h"

#include <algorithm>

using rooflab::Cost;

namespace {

Cost times(std::int64_t count, const Cost& one) {
  return {.macs = count * one.macs, .flops = count * one.flops, .bytes = count * one.bytes};
}

// The keys that a query at `position` sees.
std::int64_t seen_by(const DecoderLayer& layer, std::int64_t position) {
  const std::int64_t all = position + 1;
  return layer.window > 0 && layer.window < all ? layer.window : all;
}

}  // namespace

std::int64_t query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass) {
  std::int64_t pairs = 0;
  for (std::int64_t p = pass.key_length - pass.query_length; p < pass.key_length; ++p) {
    pairs += seen_by(layer, p);
  }
  return pass.batch * pairs;
}

Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const auto linear = [&](std::int64_t in, std::int64_t out) {
    return linear_cost(new_tokens(pass), in, out, layer.bytes_per_element);
  };
  const Cost q = linear(layer.hidden, query_width(layer));
  const Cost k_or_v = linear(layer.hidden, key_value_width(layer));
  const Cost o = linear(query_width(layer), layer.hidden);
  return q + times(2, k_or_v) + o;
}

Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t pairs = query_key_pairs(layer, pass) * layer.query_heads;
  // The first query sees the oldest key of all.
  const std::int64_t first = pass.key_length - pass.query_length;
  const std::int64_t oldest = first + 1 - seen_by(layer, first);
  const std::int64_t keys = pass.batch * (pass.key_length - oldest) * key_value_width(layer);
  const std::int64_t queries = new_tokens(pass) * query_width(layer);
  Cost cost;
  cost.macs = 2 * pairs * layer.head_dim;
  cost.flops = 2 * cost.macs + 5 * pairs;
  cost.bytes = (2 * queries + 2 * keys) * layer.bytes_per_element;
  return cost;
}

Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t tokens = new_tokens(pass);
  const std::int64_t size = layer.bytes_per_element;
  Cost cost = times(2, linear_cost(tokens, layer.hidden, layer.intermediate, size));
  cost = cost + geglu_cost(layer, tokens);
  return cost + linear_cost(tokens, layer.intermediate, layer.hidden, size);
}

Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t tokens = new_tokens(pass);
  const auto norm = [&](std::int64_t rows, std::int64_t width) {
    return rmsnorm_cost(rows, width, layer.bytes_per_element);
  };
  return projections_cost(layer, pass) + attention_cost(layer, pass) + mlp_cost(layer, pass) +
         rope_cost(layer, pass) + times(2, residual_cost(layer, pass)) +
         times(4, norm(tokens, layer.hidden)) +
         norm(tokens * layer.query_heads, layer.head_dim) +
         norm(tokens * layer.key_value_heads, layer.head_dim);
}

Cost prefill_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  return layer_cost(layer, {.batch = batch, .query_length = length, .key_length = length});
}

Cost decode_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  return layer_cost(layer, {.batch = batch, .query_length = 1, .key_length = length});
}

std::int64_t kv_cache_bytes(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  const std::int64_t kept = layer.window > 0 ? std::min(layer.window, length) : length;
  return batch * kept * 2 * key_value_width(layer) * layer.bytes_per_element;
}
