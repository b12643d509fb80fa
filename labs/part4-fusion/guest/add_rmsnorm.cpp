#include "add_rmsnorm.h"

#include "guest_support/stream.h"
#include "parameters.h"

ROOFLAB_ENTRY(add_rmsnorm) {
  using namespace rooflab;
  with_type<float, __nv_bfloat16>(call, [&]<typename T>(std::type_identity<T>) {
    add_rmsnorm(call.tensor<const T>("x"), call.tensor<T>("residual"),
                call.tensor<const T>("weight"), call.tensor<T>("y"), size(call, "rows"),
                size(call, "width"), static_cast<float>(call.real("epsilon")), stream_of(call));
  });
}
