#include "flash_decode.h"

#include "guest_support/device_memory.h"
#include "guest_support/stream.h"
#include "parameters.h"

ROOFLAB_ENTRY(flash_decode) {
  using namespace rooflab;
  const AttentionShape shape = attention_shape(call);
  const int splits = size(call, "splits");
  const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(shape.batch) *
                                shape.query_heads * splits * (shape.head_dim + 2) +
                            1024;
  Workspace workspace = kept_workspace(call, bytes);
  with_type_and_shape<float, __half, __nv_bfloat16>(
      call, [&]<typename T>(std::type_identity<T>, const AttentionShape& of_call) {
        flash_decode(call.tensor<const T>("q"), call.tensor<const T>("k"),
                     call.tensor<const T>("v"), call.tensor<T>("out"), of_call, splits, workspace,
                     stream_of(call));
      });
  pass_on_kept(call, workspace);
}
