#include "attention_steps.h"
#include "parameters.h"

ROOFLAB_ENTRY(attention_softmax) {
  attention_softmax(call.tensor<const float>("scores"), call.tensor<float>("weights"),
                    rooflab::size(call, "rows"), rooflab::size(call, "length"));
}
