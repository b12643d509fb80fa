#include <cuda_bf16.h>

#include "layer_steps.h"
#include "rmsnorm.h"
#include "rope.h"
#include "toolkit/linear.h"

template <typename T>
void layer_projections(const LayerContext& context, const LayerShape& shape,
                       const LayerWeights<T>& weights, const T* hidden, const int* positions,
                       int batch, int length, const Projections<T>& out) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const int tokens = batch * length;
  const int query_rows = tokens * shape.query_heads;
  const int key_rows = tokens * shape.key_value_heads;
  const int dims = shape.head_dim;
  const auto project = [&](const T* x, const T* weight, T* y, int heads) {
    rooflab::linear(context.cublas, x, weight, y, tokens, shape.hidden, heads * dims,
                    context.stream);
  };
  T* normed = context.workspace.take<T>(static_cast<size_t>(tokens) * shape.hidden);
  T* raw_q = context.workspace.take<T>(static_cast<size_t>(query_rows) * dims);
  T* raw_k = context.workspace.take<T>(static_cast<size_t>(key_rows) * dims);

  rmsnorm(hidden, weights.input_norm, normed, tokens, shape.hidden, shape.epsilon, context.stream);
  project(normed, weights.v_proj, out.v, shape.key_value_heads);
  project(normed, weights.k_proj, raw_k, shape.key_value_heads);
  project(normed, weights.q_proj, raw_q, shape.query_heads);
  rmsnorm(raw_k, weights.k_norm, out.k, key_rows, dims, shape.epsilon, context.stream);
  rmsnorm(raw_q, weights.q_norm, out.q, query_rows, dims, shape.epsilon, context.stream);
  rope(out.k, positions, batch, length, shape.key_value_heads, dims, shape.rope_theta,
       context.stream);
  rope(out.q, positions, batch, length, shape.query_heads, dims, shape.rope_theta, context.stream);
}

template void layer_projections(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                                const float*, const int*, int, int, const Projections<float>&);
template void layer_projections(const LayerContext&, const LayerShape&,
                                const LayerWeights<__nv_bfloat16>&, const __nv_bfloat16*,
                                const int*, int, int, const Projections<__nv_bfloat16>&);
