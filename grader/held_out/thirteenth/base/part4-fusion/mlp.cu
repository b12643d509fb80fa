#include "mlp.h"

#include <type_traits>

#include "gated_product.h"
#include "toolkit/linear.h"

namespace {

constexpr int kFewTokens = 6;  // up to here a warp for each feature is faster than tiles

template <typename T>
void product_of(const T* x, const T* gate_proj, const T* up_proj, T* product, const MlpShape& shape,
                cudaStream_t stream) {
  if constexpr (std::is_same_v<T, __half>) {
    if (shape.tokens > kFewTokens) {
      gated_ragged(x, gate_proj, up_proj, product, shape, stream);
      return;
    }
  }
  gated_decode(x, gate_proj, up_proj, product, shape, stream);
}

}  // namespace

template <typename T>
void gated_mlp(const MlpContext& context, const T* x, const T* gate_proj, const T* up_proj,
               const T* down_proj, T* out, const MlpShape& shape) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const std::size_t count = std::size_t(shape.tokens) * shape.intermediate;
  T* product = context.workspace.take<T>(count);
  product_of(x, gate_proj, up_proj, product, shape, context.stream);
  rooflab::linear(context.cublas, product, down_proj, out, shape.tokens, shape.intermediate,
                  shape.hidden, context.stream);
}

template void gated_mlp(const MlpContext&, const float*, const float*, const float*, const float*,
                        float*, const MlpShape&);
template void gated_mlp(const MlpContext&, const __half*, const __half*, const __half*,
                        const __half*, __half*, const MlpShape&);
