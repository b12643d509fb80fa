#include "gated_product.h"
#include "guest_support/stream.h"
#include "parameters.h"

ROOFLAB_ENTRY(gated_wmma) {
  using namespace rooflab;
  gated_wmma(call.tensor<const __half>("x"), call.tensor<const __half>("gate_proj"),
             call.tensor<const __half>("up_proj"), call.tensor<__half>("product"), mlp_shape(call),
             stream_of(call));
}
