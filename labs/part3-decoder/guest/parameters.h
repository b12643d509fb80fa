#pragma once

#include <cmath>

#include "guest_support/call_parameters.h"

/// What the adapters of this part read from a call in the same way.
namespace rooflab {

/// Gemma 3's epsilon; no case has another.
constexpr float kEpsilon = 1e-6F;

/// The scale of the scores: 1 / sqrt(head_dim), 1/16 in Gemma 3.
inline float attention_scale(int head_dim) {
  return 1.0F / std::sqrt(static_cast<float>(head_dim));
}

}  // namespace rooflab
