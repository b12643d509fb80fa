#include "cost.h"

#include <stdexcept>

#include "grader/contract/guest_call.h"

namespace {

using rooflab::Cost;
using rooflab::GuestCall;

DecoderLayer layer_of(const GuestCall& call) {
  return {.hidden = call.integer("hidden"),
          .intermediate = call.integer("intermediate"),
          .query_heads = call.integer("query_heads"),
          .key_value_heads = call.integer("key_value_heads"),
          .head_dim = call.integer("head_dim"),
          .window = call.integer("window"),
          .bytes_per_element = call.integer("bytes_per_element")};
}

ForwardPass pass_of(const GuestCall& call) {
  return {.batch = call.integer("batch"),
          .query_length = call.integer("query_length"),
          .key_length = call.integer("key_length")};
}

Cost cost_of(const GuestCall& call, const std::string& function) {
  const DecoderLayer layer = layer_of(call);
  const auto whole_layer = [&](auto* count) {
    return count(layer, call.integer("batch"), call.integer("length"));
  };
  if (function == "prefill_cost") return whole_layer(prefill_cost);
  if (function == "decode_cost") return whole_layer(decode_cost);
  const ForwardPass pass = pass_of(call);
  if (function == "projections_cost") return projections_cost(layer, pass);
  if (function == "attention_cost") return attention_cost(layer, pass);
  if (function == "mlp_cost") return mlp_cost(layer, pass);
  if (function == "layer_cost") return layer_cost(layer, pass);
  throw std::invalid_argument("part.toml names no such function: " + function);
}

}  // namespace

ROOFLAB_ENTRY(cost) {
  const std::string& function = call.text("function");
  if (function == "query_key_pairs") {
    call.result("pairs", query_key_pairs(layer_of(call), pass_of(call)));
  } else if (function == "kv_cache_bytes") {
    call.result("cache_bytes",
                kv_cache_bytes(layer_of(call), call.integer("batch"), call.integer("length")));
  } else {
    const Cost cost = cost_of(call, function);
    call.result("macs", cost.macs);
    call.result("flops", cost.flops);
    call.result("bytes", cost.bytes);
  }
}
