#include "cost.h"

#include <algorithm>

using rooflab::Cost;

namespace {

// How many keys the query at this position sees.
std::int64_t visible(const DecoderLayer& layer, std::int64_t position) {
  const std::int64_t up_to_here = position + 1;
  return layer.window > 0 ? std::min(layer.window, up_to_here) : up_to_here;
}

// How many keys of one sequence are visible to any of its new tokens: the oldest new token sees
// farthest back.
std::int64_t visible_to_any(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t oldest = pass.key_length - pass.query_length;
  return pass.query_length - 1 + visible(layer, oldest);
}

Cost times(std::int64_t count, const Cost& one) {
  return {.macs = count * one.macs, .flops = count * one.flops, .bytes = count * one.bytes};
}

}  // namespace

std::int64_t query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass) {
  std::int64_t pairs = 0;
  for (std::int64_t back = 1; back <= pass.query_length; ++back) {
    pairs += visible(layer, pass.key_length - back);
  }
  return pairs * pass.batch;
}

Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const auto project = [&](std::int64_t in, std::int64_t out) {
    return linear_cost(new_tokens(pass), in, out, layer.bytes_per_element);
  };
  const Cost to_queries = project(layer.hidden, query_width(layer));
  const Cost to_keys_or_values = project(layer.hidden, key_value_width(layer));
  const Cost back = project(query_width(layer), layer.hidden);
  return to_queries + times(2, to_keys_or_values) + back;
}

Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t dots = query_key_pairs(layer, pass) * layer.query_heads;
  const std::int64_t queries = new_tokens(pass) * query_width(layer);
  const std::int64_t keys = pass.batch * visible_to_any(layer, pass) * key_value_width(layer);
  Cost cost;
  cost.macs = dots * (layer.head_dim + layer.head_dim);
  cost.flops = 2 * cost.macs + 5 * dots;
  cost.bytes = 2 * (queries + keys) * layer.bytes_per_element;
  return cost;
}

Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t rows = new_tokens(pass);
  const Cost widen = linear_cost(rows, layer.hidden, layer.intermediate, layer.bytes_per_element);
  const Cost narrow = linear_cost(rows, layer.intermediate, layer.hidden, layer.bytes_per_element);
  return times(2, widen) + geglu_cost(layer, rows) + narrow;
}

Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const std::int64_t rows = new_tokens(pass);
  const std::int64_t size = layer.bytes_per_element;
  const Cost norms = times(4, rmsnorm_cost(rows, layer.hidden, size)) +
                     rmsnorm_cost(rows * layer.query_heads, layer.head_dim, size) +
                     rmsnorm_cost(rows * layer.key_value_heads, layer.head_dim, size);
  return norms + projections_cost(layer, pass) + rope_cost(layer, pass) +
         attention_cost(layer, pass) + mlp_cost(layer, pass) + times(2, residual_cost(layer, pass));
}

Cost prefill_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  return layer_cost(layer, {batch, length, length});
}

Cost decode_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  return layer_cost(layer, {batch, 1, length});
}

std::int64_t kv_cache_bytes(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  const std::int64_t kept = visible(layer, length - 1);
  const std::int64_t of_token = 2 * key_value_width(layer) * layer.bytes_per_element;
  return batch * kept * of_token;
}
