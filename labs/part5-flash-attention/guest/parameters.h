#pragma once

#include "attention_shape.h"
#include "guest_support/call_parameters.h"

/// What the adapters of this part read from a call in the same way.
namespace rooflab {

inline AttentionShape attention_shape(const GuestCall& call) {
  return {size(call, "batch"),
          size(call, "query_heads"),
          size(call, "key_value_heads"),
          size(call, "query_length"),
          size(call, "key_length"),
          size(call, "head_dim"),
          size(call, "causal") != 0,
          size(call, "window"),
          static_cast<float>(call.real("scale"))};
}

}  // namespace rooflab
