#pragma once

#include <cmath>

#include "attention_shape.h"
#include "guest_support/call_parameters.h"

/// What the adapters of this part read from a call in the same way.
namespace rooflab {

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

}  // namespace rooflab
