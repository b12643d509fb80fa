#include "cost.h"

#include <algorithm>

#include "toolkit/todo.h"

using rooflab::Cost;

// BEGIN SOLUTION
namespace {

// Pairs of the first `length` tokens of one sequence, each a query.
std::int64_t pairs_of_first(std::int64_t length, std::int64_t window) {
  const std::int64_t growing = window == 0 ? length : std::min(length, window);
  return growing * (growing + 1) / 2 + (length - growing) * window;
}

// Keys of one sequence that at least one of its queries sees.
std::int64_t keys_seen(const DecoderLayer& layer, const ForwardPass& pass) {
  if (layer.window == 0) return pass.key_length;
  return std::min(pass.key_length, pass.query_length + layer.window - 1);
}

}  // namespace

// END SOLUTION
std::int64_t query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many keys does the query at position p see? Sum over the new tokens");
  const std::int64_t old_tokens = pass.key_length - pass.query_length;
  return pass.batch *
         (pairs_of_first(pass.key_length, layer.window) - pairs_of_first(old_tokens, layer.window));
  // END SOLUTION
}

Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("what are in and out of q, k, v and o? Add up linear_cost of each");
  const auto projection = [&](std::int64_t in, std::int64_t out) {
    return linear_cost(new_tokens(pass), in, out, layer.bytes_per_element);
  };
  const Cost q = projection(layer.hidden, query_width(layer));
  const Cost k = projection(layer.hidden, key_value_width(layer));
  const Cost v = k;
  const Cost o = projection(query_width(layer), layer.hidden);
  return q + k + v + o;
  // END SOLUTION
}

Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many MACs does one pair take in all heads? Which arrays cross DRAM?");
  const std::int64_t pairs = query_key_pairs(layer, pass);
  const std::int64_t macs = 2 * query_width(layer) * pairs;  // scores, and the weighted sum
  const std::int64_t softmax_flops = 5 * layer.query_heads * pairs;

  const std::int64_t queries = new_tokens(pass) * query_width(layer);  // and as many results
  const std::int64_t keys = pass.batch * keys_seen(layer, pass) * key_value_width(layer);
  const std::int64_t elements = 2 * queries + 2 * keys;  // and as many values
  return {
      .macs = macs, .flops = 2 * macs + softmax_flops, .bytes = elements * layer.bytes_per_element};
  // END SOLUTION
}

Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("three GEMMs with hidden and intermediate, and what lies between them");
  const std::int64_t tokens = new_tokens(pass);
  const Cost gate = linear_cost(tokens, layer.hidden, layer.intermediate, layer.bytes_per_element);
  const Cost up = gate;
  const Cost down = linear_cost(tokens, layer.intermediate, layer.hidden, layer.bytes_per_element);
  return gate + up + geglu_cost(layer, tokens) + down;
  // END SOLUTION
}

Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("add up every kernel of the layer; how many rows has each norm?");
  const std::int64_t tokens = new_tokens(pass);
  const auto norm = [&](std::int64_t rows, std::int64_t width) {
    return rmsnorm_cost(rows, width, layer.bytes_per_element);
  };
  const Cost hidden_norm = norm(tokens, layer.hidden);
  const Cost attention_block = hidden_norm + projections_cost(layer, pass) +
                               norm(tokens * layer.query_heads, layer.head_dim) +
                               norm(tokens * layer.key_value_heads, layer.head_dim) +
                               rope_cost(layer, pass) + attention_cost(layer, pass) + hidden_norm +
                               residual_cost(layer, pass);
  const Cost mlp_block =
      hidden_norm + mlp_cost(layer, pass) + hidden_norm + residual_cost(layer, pass);
  return attention_block + mlp_block;
  // END SOLUTION
}

Cost prefill_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many queries and keys has each sequence?");
  return layer_cost(layer, {.batch = batch, .query_length = length, .key_length = length});
  // END SOLUTION
}

Cost decode_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many queries and keys has each sequence?");
  return layer_cost(layer, {.batch = batch, .query_length = 1, .key_length = length});
  // END SOLUTION
}

std::int64_t kv_cache_bytes(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("what is kept of each token, and of how many tokens?");
  const std::int64_t kept = layer.window == 0 ? length : std::min(length, layer.window);
  return 2 * batch * kept * key_value_width(layer) * layer.bytes_per_element;  // keys and values
  // END SOLUTION
}
