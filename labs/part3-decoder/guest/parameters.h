#pragma once

#include <cuda_bf16.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "grader/contract/guest_call.h"

/// What the adapters of this part read from a call in the same way.
namespace rooflab {

/// Gemma 3's epsilon; no case has another.
constexpr float kEpsilon = 1e-6F;

inline int size(const GuestCall& call, const std::string& name) {
  return static_cast<int>(call.integer(name));
}

/// The scale of the scores: 1 / sqrt(head_dim), 1/16 in Gemma 3.
inline float attention_scale(int head_dim) {
  return 1.0F / std::sqrt(static_cast<float>(head_dim));
}

/// Calls `function` with a value of the case's storage type, for its type alone.
template <typename Function>
void with_type(const GuestCall& call, Function&& function) {
  if (call.text("type") == "bf16") {
    function(std::type_identity<__nv_bfloat16>());
  } else if (call.text("type") == "float") {
    function(std::type_identity<float>());
  } else {
    throw std::invalid_argument("this part's tensors are float or bf16; correct part.toml");
  }
}

}  // namespace rooflab
