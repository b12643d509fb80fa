#include "kv_cache.h"

#include "guest_support/stream.h"
#include "parameters.h"

ROOFLAB_ENTRY(kv_cache) {
  using namespace rooflab;
  const KvCacheShape shape = {size(call, "batch"), size(call, "length"), size(call, "heads"),
                              size(call, "head_dim"), size(call, "capacity")};
  with_type<float, __nv_bfloat16>(call, [&]<typename T>(std::type_identity<T>) {
    kv_cache_append(call.tensor<const T>("k"), call.tensor<const T>("v"),
                    call.tensor<const int>("positions"), call.tensor<T>("key_cache"),
                    call.tensor<T>("value_cache"), shape, stream_of(call));
  });
}
