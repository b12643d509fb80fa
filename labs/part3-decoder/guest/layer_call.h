#pragma once

#include "guest_support/cublas_handle.h"
#include "guest_support/device_memory.h"
#include "guest_support/stream.h"
#include "layer.h"
#include "parameters.h"

/// What the adapters of the layer and of its steps read from a call.
namespace rooflab {

inline LayerShape shape_of(const GuestCall& call) {
  const auto real = [&](const char* name) { return static_cast<float>(call.real(name)); };
  return {size(call, "hidden"),
          size(call, "intermediate"),
          size(call, "query_heads"),
          size(call, "key_value_heads"),
          size(call, "head_dim"),
          size(call, "window"),
          real("theta"),
          real("epsilon"),
          real("attention_scale")};
}

template <typename T>
LayerWeights<T> weights_of(const GuestCall& call) {
  const auto weight = [&](const char* name) { return call.tensor<const T>(name); };
  return {weight("input_norm"),
          weight("q_proj"),
          weight("k_proj"),
          weight("v_proj"),
          weight("o_proj"),
          weight("q_norm"),
          weight("k_norm"),
          weight("post_attention_norm"),
          weight("pre_feedforward_norm"),
          weight("gate_proj"),
          weight("up_proj"),
          weight("down_proj"),
          weight("post_feedforward_norm")};
}

/// Room for every intermediate result of a layer at once, and for as much again.
inline std::size_t workspace_bytes(const LayerShape& shape, std::size_t tokens) {
  const int heads = 2 * shape.query_heads + 4 * shape.key_value_heads;
  const auto elements = static_cast<std::size_t>(4 * shape.hidden + 2 * heads * shape.head_dim +
                                                 3 * shape.intermediate);
  constexpr std::size_t kMebibyte = 1 << 20;
  return 2 * sizeof(float) * tokens * elements + kMebibyte;
}

}  // namespace rooflab
