#pragma once

#include "guest_support/call_parameters.h"

/// What the adapters of this part have in common.
namespace rooflab {

/// Gemma 3's epsilon; no case has another.
constexpr float kEpsilon = 1e-6F;

}  // namespace rooflab
