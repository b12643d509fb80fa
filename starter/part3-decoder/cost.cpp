#include "cost.h"

#include <algorithm>

#include "toolkit/todo.h"

using rooflab::Cost;

std::int64_t query_key_pairs(const DecoderLayer& layer, const ForwardPass& pass) {
  rooflab::todo("how many keys does the query at position p see? Sum over the new tokens");
}

Cost projections_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  rooflab::todo("what are in and out of q, k, v and o? Add up linear_cost of each");
}

Cost attention_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  rooflab::todo("how many MACs does one pair take in all heads? Which arrays cross DRAM?");
}

Cost mlp_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  rooflab::todo("three GEMMs with hidden and intermediate, and what lies between them");
}

Cost layer_cost(const DecoderLayer& layer, const ForwardPass& pass) {
  rooflab::todo("add up every kernel of the layer; how many rows has each norm?");
}

Cost prefill_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  rooflab::todo("how many queries and keys has each sequence?");
}

Cost decode_cost(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  rooflab::todo("how many queries and keys has each sequence?");
}

std::int64_t kv_cache_bytes(const DecoderLayer& layer, std::int64_t batch, std::int64_t length) {
  rooflab::todo("what is kept of each token, and of how many tokens?");
}
