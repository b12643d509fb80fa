#include "cost.h"

using rooflab::Cost;

static std::int64_t at_least_zero(std::int64_t value) { return value > 0 ? value : 0; }

/* Pairs of the first `count` tokens of a text. */
static std::int64_t pairs_of_first(std::int64_t count, std::int64_t window) {
  if (window == 0 || count <= window) return count * (count + 1) / 2;
  std::int64_t growing = window * (window + 1) / 2;
  std::int64_t full = (count - window) * window;
  return growing + full;
}

/* Keys that at least one of the new tokens sees, in one sequence. */
static std::int64_t keys_in_use(const DecoderLayer& layer, const ForwardPass& pass) {
  if (layer.window == 0) return pass.key_length;
  std::int64_t oldest_query = pass.key_length - pass.query_length;
  std::int64_t first_key = at_least_zero(oldest_query - layer.window + 1);
  return pass.key_length - first_key;
}

std::int64_t query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass) {
  std::int64_t older = pass.key_length - pass.query_length;
  std::int64_t all = pairs_of_first(pass.key_length, layer.window);
  std::int64_t done = pairs_of_first(older, layer.window);
  return pass.batch * (all - done);
}

Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  std::int64_t tokens = new_tokens(pass);
  std::int64_t element = layer.bytes_per_element;
  Cost q = linear_cost(tokens, layer.hidden, query_width(layer), element);
  Cost k = linear_cost(tokens, layer.hidden, key_value_width(layer), element);
  Cost v = k;
  Cost o = linear_cost(tokens, query_width(layer), layer.hidden, element);
  return q + k + v + o;
}

Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  std::int64_t scores = query_key_pairs(layer, pass) * layer.query_heads;
  std::int64_t queries = new_tokens(pass) * query_width(layer);
  std::int64_t keys = pass.batch * keys_in_use(layer, pass) * key_value_width(layer);

  Cost cost;
  cost.macs = scores * layer.head_dim * 2;
  cost.flops = 2 * cost.macs + 5 * scores;
  cost.bytes = 2 * (queries + keys) * layer.bytes_per_element;
  return cost;
}

Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  std::int64_t tokens = new_tokens(pass);
  Cost gate = linear_cost(tokens, layer.hidden, layer.intermediate, layer.bytes_per_element);
  Cost up = gate;
  Cost between = geglu_cost(layer, tokens);
  Cost down = linear_cost(tokens, layer.intermediate, layer.hidden, layer.bytes_per_element);
  return gate + up + between + down;
}

static Cost norms_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  std::int64_t tokens = new_tokens(pass);
  std::int64_t element = layer.bytes_per_element;
  Cost total;
  int i;
  for (i = 0; i < 4; i++) total = total + rmsnorm_cost(tokens, layer.hidden, element);
  total = total + rmsnorm_cost(tokens * layer.query_heads, layer.head_dim, element);
  total = total + rmsnorm_cost(tokens * layer.key_value_heads, layer.head_dim, element);
  return total;
}

Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  Cost total = projections_cost(layer, pass);
  total = total + attention_cost(layer, pass);
  total = total + mlp_cost(layer, pass);
  total = total + rope_cost(layer, pass);
  total = total + residual_cost(layer, pass);
  total = total + residual_cost(layer, pass);
  total = total + norms_cost(layer, pass);
  return total;
}

Cost prefill_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  ForwardPass pass;
  pass.batch = batch;
  pass.query_length = length;
  pass.key_length = length;
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
  std::int64_t kept = length;
  if (layer.window > 0 && kept > layer.window) kept = layer.window;
  std::int64_t both = 2 * key_value_width(layer);
  return batch * kept * both * layer.bytes_per_element;
}
