#include "cost.h"

#include <algorithm>

#include "toolkit/todo.h"

using rooflab::Cost;

std::int64_t query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass) {
  rooflab::todo("how many keys does the query at position p see? Sum over the new tokens");
}

Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  rooflab::todo("write down in_features and out_features of q, k, v and o");
}

Cost rmsnorm_cost(std::int64_t rows, std::int64_t width, std::int64_t bytes_per_element) {
  rooflab::todo("count what an element takes and what a row takes");
}

Cost rope_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  rooflab::todo("how many pairs do the queries and keys of one token have?");
}

Cost scores_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  rooflab::todo("how many steps does one pair take in one head?");
}

Cost softmax_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  rooflab::todo("count how often the three sweeps read and write a score");
}

Cost weighted_sum_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  rooflab::todo("as the scores, with inputs and output in other roles");
}

Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass, bool fused) {
  rooflab::todo("add the three kernels up; when they are one, which arrays are left?");
}

Cost geglu_cost(const DecoderLayer& layer, std::int64_t tokens, bool fused) {
  rooflab::todo("which arrays does each kernel read and write?");
}

Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass, bool fused) {
  rooflab::todo("three products with hidden and intermediate, and what lies between");
}

Cost residual_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  rooflab::todo("two arrays in, one out");
}

Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass, bool fused) {
  rooflab::todo("add up every kernel of the layer; how many rows has each norm?");
}

Cost prefill_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  rooflab::todo("how many queries and keys has each sequence?");
}

Cost decode_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  rooflab::todo("how many queries and keys has each sequence?");
}

Cost decode_without_cache_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  rooflab::todo("which of the other functions counts the same work?");
}

std::int64_t kv_cache_bytes(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  rooflab::todo("what is kept of each token, and of how many tokens?");
}
