#include "rope.h"

#include "guest_support/stream.h"
#include "parameters.h"

ROOFLAB_ENTRY(rope) {
  using namespace rooflab;
  with_type<float, __nv_bfloat16>(call, [&]<typename T>(std::type_identity<T>) {
    rope(call.tensor<T>("x"), call.tensor<const int>("positions"), size(call, "batch"),
         size(call, "length"), size(call, "heads"), size(call, "head_dim"),
         static_cast<float>(call.real("theta")), stream_of(call));
  });
}
