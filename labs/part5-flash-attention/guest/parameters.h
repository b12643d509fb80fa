#pragma once

#include <sstream>

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

/// Calls `function` with a value of the case's storage type and with its shape. Where the case says
/// `after = "half 256"`, a call of that type and head size comes first, of one query and one key at
/// the beginning of the case's arrays: what a function remembers of one kernel must not stand for
/// the others.
template <typename... Types, typename Function>
void with_type_and_shape(const GuestCall& call, Function&& function) {
  const AttentionShape shape = attention_shape(call);
  std::istringstream after(call.text("after"));
  std::string type;
  AttentionShape first = {1, 1, 1, 1, 1, 0, false, 0, shape.scale};
  if (after >> type >> first.head_dim) {
    with_type<Types...>(type, [&](auto of_type) { function(of_type, first); });
  }
  with_type<Types...>(call, [&](auto of_type) { function(of_type, shape); });
}

}  // namespace rooflab
