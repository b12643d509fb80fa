#include "mlp.h"

#include "guest_support/cublas_handle.h"
#include "guest_support/device_memory.h"
#include "guest_support/stream.h"
#include "parameters.h"

namespace {

/// Room for the product, and for as much again, in fp32.
std::size_t workspace_bytes(const MlpShape& shape) {
  constexpr std::size_t kAlignment = 1024;
  return 2 * sizeof(float) * static_cast<std::size_t>(shape.tokens) *
             static_cast<std::size_t>(shape.intermediate) +
         kAlignment;
}

}  // namespace

ROOFLAB_ENTRY(mlp) {
  using namespace rooflab;
  const MlpShape shape = mlp_shape(call);
  Workspace workspace = kept_workspace(call, workspace_bytes(shape));
  const auto& cublas = call.kept<CublasHandle>("cuBLAS");
  const LentHandle lent(cublas.get());
  const MlpContext context = {cublas.get(), stream_of(call), workspace};
  with_type<float, __half>(call, [&]<typename T>(std::type_identity<T>) {
    gated_mlp(context, call.tensor<const T>("x"), call.tensor<const T>("gate_proj"),
              call.tensor<const T>("up_proj"), call.tensor<const T>("down_proj"),
              call.tensor<T>("out"), shape);
  });
  pass_on_kept(call, workspace);
  lent.pass_on_changes(call, stream_of(call));
}
