#include "geglu.h"

#include "guest_support/stream.h"
#include "parameters.h"

ROOFLAB_ENTRY(geglu) {
  using namespace rooflab;
  with_type<float, __nv_bfloat16>(call, [&]<typename T>(std::type_identity<T>) {
    geglu(call.tensor<const T>("gate"), call.tensor<const T>("up"), call.tensor<T>("out"),
          call.integer("count"), stream_of(call));
  });
}
