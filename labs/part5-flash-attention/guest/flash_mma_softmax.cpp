#include "flash_mma_softmax.h"

#include "guest_support/call_parameters.h"

ROOFLAB_ENTRY(flash_mma_softmax) {
  flash_mma_softmax(call.tensor<const __half>("q"), call.tensor<const __half>("k"),
                    call.tensor<const __half>("v"), call.tensor<__half>("out"),
                    call.tensor<float>("log_sum_exp"), rooflab::size(call, "query_length"),
                    static_cast<float>(call.real("scale")));
}
