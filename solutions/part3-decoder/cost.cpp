#include "cost.h"

#include <algorithm>

#include "toolkit/todo.h"

using rooflab::Cost;

// BEGIN SOLUTION
namespace {

std::int64_t query_width(const DecoderLayer& layer) { return layer.query_heads * layer.head_dim; }

std::int64_t key_value_width(const DecoderLayer& layer) {
  return layer.key_value_heads * layer.head_dim;
}

std::int64_t new_tokens(const ForwardPass& pass) { return pass.batch * pass.query_length; }

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

// Elements of the keys that are seen, and of the values.
std::int64_t key_elements(const DecoderLayer& layer, const ForwardPass& pass) {
  return pass.batch * keys_seen(layer, pass) * key_value_width(layer);
}

std::int64_t score_elements(const DecoderLayer& layer, const ForwardPass& pass) {
  return pass.batch * layer.query_heads * pass.query_length * keys_seen(layer, pass);
}

Cost linear_cost(std::int64_t tokens, std::int64_t in, std::int64_t out,
                 std::int64_t bytes_per_element) {
  const std::int64_t macs = tokens * in * out;
  const std::int64_t elements = tokens * in + in * out + tokens * out;
  return {.macs = macs, .flops = 2 * macs, .bytes = elements * bytes_per_element};
}

// One product of attention: every pair takes head_dim steps in every query head.
Cost pairs_cost(const DecoderLayer& layer, const ForwardPass& pass, std::int64_t elements) {
  const std::int64_t macs = query_width(layer) * query_key_pairs(layer, pass);
  return {.macs = macs, .flops = 2 * macs, .bytes = elements * layer.bytes_per_element};
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
  // STARTER: rooflab::todo("write down in_features and out_features of q, k, v and o");
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

Cost rmsnorm_cost(std::int64_t rows, std::int64_t width, std::int64_t bytes_per_element) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("count what an element takes and what a row takes");
  return {.macs = 0,
          .flops = rows * (5 * width + 3),
          .bytes = (2 * rows * width + width) * bytes_per_element};
  // END SOLUTION
}

Cost rope_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many pairs do the queries and keys of one token have?");
  const std::int64_t elements = new_tokens(pass) * (query_width(layer) + key_value_width(layer));
  const std::int64_t pairs = elements / 2;
  return {.macs = 0, .flops = 6 * pairs, .bytes = 2 * elements * layer.bytes_per_element};
  // END SOLUTION
}

Cost scores_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many steps does one pair take in one head?");
  const std::int64_t queries = new_tokens(pass) * query_width(layer);
  return pairs_cost(layer, pass, queries + key_elements(layer, pass) + score_elements(layer, pass));
  // END SOLUTION
}

Cost softmax_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("count how often the three sweeps read and write a score");
  return {.macs = 0,
          .flops = 5 * layer.query_heads * query_key_pairs(layer, pass),
          .bytes = 5 * score_elements(layer, pass) * layer.bytes_per_element};
  // END SOLUTION
}

Cost weighted_sum_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("as the scores, with inputs and output in other roles");
  const std::int64_t results = new_tokens(pass) * query_width(layer);
  return pairs_cost(layer, pass, score_elements(layer, pass) + key_elements(layer, pass) + results);
  // END SOLUTION
}

Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass, bool fused) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("add the three kernels up; when they are one, which arrays are left?");
  Cost cost = scores_cost(layer, pass) + softmax_cost(layer, pass) + weighted_sum_cost(layer, pass);
  if (fused) {
    const std::int64_t queries_and_results = 2 * new_tokens(pass) * query_width(layer);
    const std::int64_t keys_and_values = 2 * key_elements(layer, pass);
    cost.bytes = (queries_and_results + keys_and_values) * layer.bytes_per_element;
  }
  return cost;
  // END SOLUTION
}

Cost geglu_cost(const DecoderLayer& layer, std::int64_t tokens, bool fused) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("which arrays does each kernel read and write?");
  const std::int64_t elements = tokens * layer.intermediate;
  const std::int64_t arrays = fused ? 3 : 5;  // gate, up, out; and gelu(gate), written and read
  return {
      .macs = 0, .flops = (8 + 1) * elements, .bytes = arrays * elements * layer.bytes_per_element};
  // END SOLUTION
}

Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass, bool fused) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("three products with hidden and intermediate, and what lies between");
  const std::int64_t tokens = new_tokens(pass);
  const Cost gate = linear_cost(tokens, layer.hidden, layer.intermediate, layer.bytes_per_element);
  const Cost up = gate;
  const Cost down = linear_cost(tokens, layer.intermediate, layer.hidden, layer.bytes_per_element);
  return gate + up + geglu_cost(layer, tokens, fused) + down;
  // END SOLUTION
}

Cost residual_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("two arrays in, one out");
  const std::int64_t elements = new_tokens(pass) * layer.hidden;
  return {.macs = 0, .flops = elements, .bytes = 3 * elements * layer.bytes_per_element};
  // END SOLUTION
}

Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass, bool fused) {
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
                               rope_cost(layer, pass) + attention_cost(layer, pass, fused) +
                               hidden_norm + residual_cost(layer, pass);
  const Cost mlp_block =
      hidden_norm + mlp_cost(layer, pass, fused) + hidden_norm + residual_cost(layer, pass);
  return attention_block + mlp_block;
  // END SOLUTION
}

Cost prefill_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many queries and keys has each sequence?");
  const ForwardPass prompt{.batch = batch, .query_length = length, .key_length = length};
  return layer_cost(layer, prompt, true);
  // END SOLUTION
}

Cost decode_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many queries and keys has each sequence?");
  const ForwardPass token{.batch = batch, .query_length = 1, .key_length = length};
  return layer_cost(layer, token, true);
  // END SOLUTION
}

Cost decode_without_cache_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("which of the other functions counts the same work?");
  return prefill_cost(layer, batch, length);
  // END SOLUTION
}

std::int64_t kv_cache_bytes(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("what is kept of each token, and of how many tokens?");
  const std::int64_t kept = layer.window == 0 ? length : std::min(length, layer.window);
  return 2 * batch * kept * key_value_width(layer) * layer.bytes_per_element;  // keys and values
  // END SOLUTION
}
