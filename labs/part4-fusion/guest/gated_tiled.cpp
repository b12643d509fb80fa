#include "gated_product.h"
#include "guest_support/stream.h"
#include "parameters.h"

ROOFLAB_ENTRY(gated_tiled) {
  using namespace rooflab;
  gated_tiled(call.tensor<const float>("x"), call.tensor<const float>("gate_proj"),
              call.tensor<const float>("up_proj"), call.tensor<float>("product"), mlp_shape(call),
              stream_of(call));
}
