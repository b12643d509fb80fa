#include "cost.h"

#include <algorithm>

using rooflab::Cost;
using Int = std::int64_t;

namespace {

Cost sum(std::initializer_list<Cost> costs) {
  Cost all;
  for (const Cost& one : costs) all = all + one;
  return all;
}

// Keys of a sequence that a query at position p sees.
Int seen_from(const DecoderLayer& layer, Int p) {
  return layer.window > 0 ? std::min(layer.window, p + 1) : p + 1;
}

}  // namespace

Int query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass) {
  Int pairs = 0;
  for (Int p = pass.key_length - pass.query_length; p < pass.key_length; ++p) {
    pairs += seen_from(layer, p);
  }
  return pairs * pass.batch;
}

Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Int t = new_tokens(pass), h = layer.hidden, width = layer.bytes_per_element;
  const Int q = query_width(layer), kv = key_value_width(layer);
  return sum({linear_cost(t, h, q, width), linear_cost(t, h, kv, width),
              linear_cost(t, h, kv, width), linear_cost(t, q, h, width)});
}

Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Int pairs = query_key_pairs(layer, pass) * layer.query_heads;
  const Int oldest = pass.key_length - pass.query_length;  // of the new tokens
  const Int out_of_sight = oldest + 1 - seen_from(layer, oldest);
  const Int keys = pass.batch * (pass.key_length - out_of_sight);
  Cost c;
  c.macs = pairs * 2 * layer.head_dim;
  c.flops = 2 * c.macs + 5 * pairs;
  c.bytes = (2 * new_tokens(pass) * query_width(layer) + 2 * keys * key_value_width(layer)) *
            layer.bytes_per_element;
  return c;
}

Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Int t = new_tokens(pass), width = layer.bytes_per_element;
  const Cost in = linear_cost(t, layer.hidden, layer.intermediate, width);
  return sum({in, in, geglu_cost(layer, t), linear_cost(t, layer.intermediate, layer.hidden, width)});
}

Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  const Int t = new_tokens(pass), width = layer.bytes_per_element;
  const Cost norm = rmsnorm_cost(t, layer.hidden, width);
  const Cost residual = residual_cost(layer, pass);
  return sum({projections_cost(layer, pass), attention_cost(layer, pass), mlp_cost(layer, pass),
              rope_cost(layer, pass), residual, residual, norm, norm, norm, norm,
              rmsnorm_cost(t * layer.query_heads, layer.head_dim, width),
              rmsnorm_cost(t * layer.key_value_heads, layer.head_dim, width)});
}

Cost prefill_cost(const DecoderLayer& layer, Int batch, Int length) {
  return layer_cost(layer, {batch, length, length});
}

Cost decode_cost(const DecoderLayer& layer, Int batch, Int length) {
  return layer_cost(layer, {batch, 1, length});
}

Int kv_cache_bytes(const DecoderLayer& layer, Int batch, Int length) {
  const Int kept = seen_from(layer, length - 1);
  return batch * kept * 2 * key_value_width(layer) * layer.bytes_per_element;
}
