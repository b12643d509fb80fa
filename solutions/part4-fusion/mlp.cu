#include "mlp.h"

#include <type_traits>

#include "gated_product.h"
#include "toolkit/linear.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Which of your kernels is for how many tokens? Choose here.
namespace {

constexpr int kFewTokens = 8;  // with so few, most of a tile would be empty

// product (tokens, intermediate) = gelu(x gate_proj^T) * (x up_proj^T)
template <typename T>
void gated_product(const T* x, const T* gate_proj, const T* up_proj, T* product,
                   const MlpShape& shape, cudaStream_t stream) {
  if constexpr (std::is_same_v<T, __half>) {
    if (shape.tokens > kFewTokens) {
      return gated_ragged(x, gate_proj, up_proj, product, shape, stream);
    }
  }
  gated_decode(x, gate_proj, up_proj, product, shape, stream);
}

}  // namespace
// END SOLUTION

template <typename T>
void gated_mlp(const MlpContext& context, const T* x, const T* gate_proj, const T* up_proj,
               const T* down_proj, T* out, const MlpShape& shape) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("take room for the product, launch one of your kernels, then rooflab::linear");
  const rooflab::Workspace::Scope scope(context.workspace);
  T* product = context.workspace.take<T>(static_cast<size_t>(shape.tokens) * shape.intermediate);
  gated_product(x, gate_proj, up_proj, product, shape, context.stream);
  rooflab::linear(context.cublas, product, down_proj, out, shape.tokens, shape.intermediate,
                  shape.hidden, context.stream);
  // END SOLUTION
}

template void gated_mlp(const MlpContext&, const float*, const float*, const float*, const float*,
                        float*, const MlpShape&);
template void gated_mlp(const MlpContext&, const __half*, const __half*, const __half*,
                        const __half*, __half*, const MlpShape&);
