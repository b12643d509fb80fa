#include "flash_tensor_cores.h"

#include "guest_support/stream.h"
#include "parameters.h"

ROOFLAB_ENTRY(flash_tensor_cores) {
  using namespace rooflab;
  with_type_and_shape<__half, __nv_bfloat16>(
      call, [&]<typename T>(std::type_identity<T>, const AttentionShape& shape) {
        flash_tensor_cores(call.tensor<const T>("q"), call.tensor<const T>("k"),
                           call.tensor<const T>("v"), call.tensor<T>("out"),
                           call.tensor<float>("log_sum_exp"), shape, stream_of(call));
      });
}
