#include <cuda_bf16.h>

#include "layer_steps.h"
#include "rmsnorm.h"
#include "rope.h"
#include "toolkit/linear.h"
#include "toolkit/todo.h"

template <typename T>
void layer_projections(const LayerContext& context, const LayerShape& shape,
                       const LayerWeights<T>& weights, const T* hidden, const int* positions,
                       int batch, int length, const Projections<T>& out) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("norm hidden, project it to q, k and v; then norm and rotate q and k");
  rooflab::Workspace& workspace = context.workspace;
  const rooflab::Workspace::Scope scope(workspace);
  const cudaStream_t stream = context.stream;
  const int tokens = batch * length;
  const int q_width = shape.query_heads * shape.head_dim;
  const int kv_width = shape.key_value_heads * shape.head_dim;
  T* x = workspace.take<T>(static_cast<size_t>(tokens) * shape.hidden);
  T* q = workspace.take<T>(static_cast<size_t>(tokens) * q_width);
  T* k = workspace.take<T>(static_cast<size_t>(tokens) * kv_width);

  rmsnorm(hidden, weights.input_norm, x, tokens, shape.hidden, shape.epsilon, stream);
  rooflab::linear(context.cublas, x, weights.q_proj, q, tokens, shape.hidden, q_width, stream);
  rooflab::linear(context.cublas, x, weights.k_proj, k, tokens, shape.hidden, kv_width, stream);
  rooflab::linear(context.cublas, x, weights.v_proj, out.v, tokens, shape.hidden, kv_width, stream);

  // A head is a row.
  rmsnorm(q, weights.q_norm, out.q, tokens * shape.query_heads, shape.head_dim, shape.epsilon,
          stream);
  rmsnorm(k, weights.k_norm, out.k, tokens * shape.key_value_heads, shape.head_dim, shape.epsilon,
          stream);
  rope(out.q, positions, batch, length, shape.query_heads, shape.head_dim, shape.rope_theta,
       stream);
  rope(out.k, positions, batch, length, shape.key_value_heads, shape.head_dim, shape.rope_theta,
       stream);
  // END SOLUTION
}

template void layer_projections(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                                const float*, const int*, int, int, const Projections<float>&);
template void layer_projections(const LayerContext&, const LayerShape&,
                                const LayerWeights<__nv_bfloat16>&, const __nv_bfloat16*,
                                const int*, int, int, const Projections<__nv_bfloat16>&);
