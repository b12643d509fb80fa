#include "gated_product.h"
#include "guest_support/stream.h"
#include "parameters.h"

ROOFLAB_ENTRY(gated_ragged) {
  using namespace rooflab;
  gated_ragged(call.tensor<const __half>("x"), call.tensor<const __half>("gate_proj"),
               call.tensor<const __half>("up_proj"), call.tensor<__half>("product"),
               mlp_shape(call), stream_of(call));
}
