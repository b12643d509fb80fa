#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <string>
#include <type_traits>

#include "attention_shape.h"
#include "grader/contract/guest_call.h"

/// What the adapters of this part read from a call in the same way.
namespace rooflab {

inline int size(const GuestCall& call, const std::string& name) {
  return static_cast<int>(call.integer(name));
}

/// The scale of the scores is 1 / sqrt(head_dim), as in most models.
inline AttentionShape attention_shape(const GuestCall& call) {
  const int head_dim = size(call, "head_dim");
  return {size(call, "batch"),
          size(call, "query_heads"),
          size(call, "key_value_heads"),
          size(call, "query_length"),
          size(call, "key_length"),
          head_dim,
          size(call, "causal") != 0,
          size(call, "window"),
          1.0F / std::sqrt(static_cast<float>(head_dim))};
}

/// Calls `function` with a value of the case's storage type if that has 16 bits, for its type
/// alone.
template <typename Function>
void with_half_type(const GuestCall& call, Function&& function) {
  if (call.text("type") == "bf16") {
    function(std::type_identity<__nv_bfloat16>());
  } else {
    function(std::type_identity<__half>());
  }
}

/// The same for every storage type.
template <typename Function>
void with_type(const GuestCall& call, Function&& function) {
  if (call.text("type") == "float") {
    function(std::type_identity<float>());
  } else {
    with_half_type(call, function);
  }
}

}  // namespace rooflab
