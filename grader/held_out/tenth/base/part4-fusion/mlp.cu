#include "mlp.h"

#include "gated_product.h"
#include "toolkit/linear.h"

// I only use the decode kernel: slow for many tokens, but right for all of them.
template <typename T>
void gated_mlp(const MlpContext& context, const T* x, const T* gate_proj, const T* up_proj,
               const T* down_proj, T* out, const MlpShape& shape) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const size_t count = static_cast<size_t>(shape.tokens) * shape.intermediate;
  T* product = context.workspace.take<T>(count);
  gated_decode<T>(x, gate_proj, up_proj, product, shape, context.stream);
  rooflab::linear<T>(context.cublas, product, down_proj, out, shape.tokens, shape.intermediate,
                     shape.hidden, context.stream);
}

template void gated_mlp(const MlpContext&, const float*, const float*, const float*, const float*,
                        float*, const MlpShape&);
template void gated_mlp(const MlpContext&, const __half*, const __half*, const __half*,
                        const __half*, __half*, const MlpShape&);
