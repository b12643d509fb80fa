#include "flash_online.h"

#include "parameters.h"

ROOFLAB_ENTRY(flash_online) {
  flash_online(call.tensor<const float>("q"), call.tensor<const float>("k"),
               call.tensor<const float>("v"), call.tensor<float>("out"),
               call.tensor<float>("log_sum_exp"), rooflab::attention_shape(call));
}
