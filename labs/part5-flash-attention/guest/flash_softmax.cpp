#include "flash_softmax.h"

#include "guest_support/call_parameters.h"

ROOFLAB_ENTRY(flash_softmax) {
  flash_softmax(call.tensor<const float>("q"), call.tensor<const float>("k"),
                call.tensor<const float>("v"), call.tensor<float>("out"),
                call.tensor<float>("log_sum_exp"), rooflab::size(call, "query_length"),
                static_cast<float>(call.real("scale")));
}
