#include "rmsnorm.h"

#include "guest_support/stream.h"
#include "parameters.h"

ROOFLAB_ENTRY(rmsnorm) {
  using namespace rooflab;
  with_type<float, __nv_bfloat16>(call, [&]<typename T>(std::type_identity<T>) {
    rmsnorm(call.tensor<const T>("x"), call.tensor<const T>("weight"), call.tensor<T>("y"),
            size(call, "rows"), size(call, "width"), static_cast<float>(call.real("epsilon")),
            stream_of(call));
  });
}
