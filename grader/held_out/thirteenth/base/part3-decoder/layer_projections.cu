#include <cuda_bf16.h>

#include "layer_steps.h"
#include "rmsnorm.h"
#include "rope.h"
#include "toolkit/linear.h"

namespace {

// Projects, norms and rotates one of q and k.
template <typename T>
struct HeadMaker {
  const LayerContext& context;
  const LayerShape& shape;
  const T* x;
  const int* positions;
  int batch, length;

  void plain(const T* weight, int heads, T* out) const {
    rooflab::linear(context.cublas, x, weight, out, batch * length, shape.hidden,
                    heads * shape.head_dim, context.stream);
  }

  void rotated(const T* weight, const T* norm, int heads, T* out) const {
    const rooflab::Workspace::Scope scope(context.workspace);
    const int rows = batch * length * heads;
    T* raw = context.workspace.take<T>(static_cast<size_t>(rows) * shape.head_dim);
    plain(weight, heads, raw);
    rmsnorm(raw, norm, out, rows, shape.head_dim, shape.epsilon, context.stream);
    rope(out, positions, batch, length, heads, shape.head_dim, shape.rope_theta, context.stream);
  }
};

}  // namespace

template <typename T>
void layer_projections(const LayerContext& context, const LayerShape& shape,
                       const LayerWeights<T>& weights, const T* hidden, const int* positions,
                       int batch, int length, const Projections<T>& out) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const int tokens = batch * length;
  T* x = context.workspace.take<T>(static_cast<size_t>(tokens) * shape.hidden);
  rmsnorm(hidden, weights.input_norm, x, tokens, shape.hidden, shape.epsilon, context.stream);
  const HeadMaker<T> make{context, shape, x, positions, batch, length};
  make.rotated(weights.q_proj, weights.q_norm, shape.query_heads, out.q);
  make.rotated(weights.k_proj, weights.k_norm, shape.key_value_heads, out.k);
  make.plain(weights.v_proj, shape.key_value_heads, out.v);
}

template void layer_projections(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                                const float*, const int*, int, int, const Projections<float>&);
template void layer_projections(const LayerContext&, const LayerShape&,
                                const LayerWeights<__nv_bfloat16>&, const __nv_bfloat16*,
                                const int*, int, int, const Projections<__nv_bfloat16>&);
