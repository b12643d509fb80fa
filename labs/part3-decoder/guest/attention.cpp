#include "attention.h"

#include "guest_support/stream.h"
#include "parameters.h"

ROOFLAB_ENTRY(attention) {
  using namespace rooflab;
  const AttentionShape shape = {size(call, "batch"),       size(call, "query_length"),
                                size(call, "query_heads"), size(call, "key_value_heads"),
                                size(call, "head_dim"),    size(call, "capacity"),
                                size(call, "window"),      static_cast<float>(call.real("scale"))};
  with_type<float, __nv_bfloat16>(call, [&]<typename T>(std::type_identity<T>) {
    attention(call.tensor<const T>("q"), call.tensor<const T>("keys"),
              call.tensor<const T>("values"), call.tensor<const int>("positions"),
              call.tensor<T>("out"), shape, stream_of(call));
  });
}
