#include "fused_gelu.h"

#include "guest_support/stream.h"
#include "parameters.h"

ROOFLAB_ENTRY(fused_gelu) {
  using namespace rooflab;
  with_type<float, __nv_bfloat16>(call, [&]<typename T>(std::type_identity<T>) {
    fused_gelu(call.tensor<const T>("x"), call.tensor<T>("y"), call.integer("count"),
               stream_of(call));
  });
}
