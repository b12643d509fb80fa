#include "attention_steps.h"
#include "parameters.h"
#include "prompt_shape.h"

ROOFLAB_ENTRY(attention_scores) {
  attention_scores(call.tensor<const float>("q"), call.tensor<const float>("keys"),
                   call.tensor<float>("scores"), rooflab::prompt_shape(call));
}
