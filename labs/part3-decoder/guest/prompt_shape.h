#pragma once

#include "attention_steps.h"
#include "parameters.h"

namespace rooflab {

inline PromptShape prompt_shape(const GuestCall& call) {
  return {size(call, "length"),          size(call, "query_heads"),
          size(call, "key_value_heads"), size(call, "head_dim"),
          size(call, "window"),          static_cast<float>(call.real("scale"))};
}

}  // namespace rooflab
