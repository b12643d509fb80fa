#pragma once

#include "guest_support/call_parameters.h"
#include "mlp_shape.h"

/// What the adapters of this part have in common.
namespace rooflab {

/// Gemma 3's epsilon; no case has another.
constexpr float kEpsilon = 1e-6F;

inline MlpShape mlp_shape(const GuestCall& call) {
  return {size(call, "tokens"), size(call, "hidden"), size(call, "intermediate")};
}

}  // namespace rooflab
