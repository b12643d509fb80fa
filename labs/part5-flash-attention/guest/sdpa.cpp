#include "sdpa.h"

#include "guest_support/cublas_handle.h"
#include "guest_support/stream.h"
#include "parameters.h"

ROOFLAB_ENTRY(sdpa) {
  using namespace rooflab;
  const auto& cublas = call.kept<CublasHandle>("cuBLAS");
  const LentHandle lent(cublas.get());
  with_type<float, __half, __nv_bfloat16>(call, [&]<typename T>(std::type_identity<T>) {
    sdpa(cublas.get(), call.tensor<const T>("q"), call.tensor<const T>("k"),
         call.tensor<const T>("v"), call.tensor<T>("out"), attention_shape(call), stream_of(call));
  });
  lent.pass_on_changes(call, stream_of(call));
}
