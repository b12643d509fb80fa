#include "gated_product.h"
#include "guest_support/stream.h"
#include "parameters.h"

ROOFLAB_ENTRY(gated_decode) {
  using namespace rooflab;
  with_type<float, __half>(call, [&]<typename T>(std::type_identity<T>) {
    gated_decode(call.tensor<const T>("x"), call.tensor<const T>("gate_proj"),
                 call.tensor<const T>("up_proj"), call.tensor<T>("product"), mlp_shape(call),
                 stream_of(call));
  });
}
