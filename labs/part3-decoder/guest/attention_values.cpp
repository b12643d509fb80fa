#include "attention_steps.h"
#include "parameters.h"
#include "prompt_shape.h"

ROOFLAB_ENTRY(attention_values) {
  attention_values(call.tensor<const float>("weights"), call.tensor<const float>("values"),
                   call.tensor<float>("out"), rooflab::prompt_shape(call));
}
