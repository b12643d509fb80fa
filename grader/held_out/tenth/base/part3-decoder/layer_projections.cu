#include <cuda_bf16.h>

#include "layer_steps.h"
#include "rmsnorm.h"
#include "rope.h"
#include "toolkit/linear.h"

template <typename T>
void layer_projections(const LayerContext& context, const LayerShape& shape,
                       const LayerWeights<T>& weights, const T* hidden, const int* positions,
                       int batch, int length, const Projections<T>& out) {
  rooflab::Workspace::Scope give_back(context.workspace);
  const cudaStream_t st = context.stream;
  const int tokens = batch * length;
  const int q_width = shape.query_heads * shape.head_dim;
  const int kv_width = shape.key_value_heads * shape.head_dim;
  T* x = context.workspace.template take<T>(static_cast<size_t>(tokens) * shape.hidden);
  T* raw_q = context.workspace.template take<T>(static_cast<size_t>(tokens) * q_width);
  T* raw_k = context.workspace.template take<T>(static_cast<size_t>(tokens) * kv_width);

  rmsnorm<T>(hidden, weights.input_norm, x, tokens, shape.hidden, shape.epsilon, st);
  rooflab::linear<T>(context.cublas, x, weights.q_proj, raw_q, tokens, shape.hidden, q_width, st);
  rooflab::linear<T>(context.cublas, x, weights.k_proj, raw_k, tokens, shape.hidden, kv_width, st);
  rooflab::linear<T>(context.cublas, x, weights.v_proj, out.v, tokens, shape.hidden, kv_width, st);
  // every head is a row of head_dim numbers
  rmsnorm<T>(raw_q, weights.q_norm, out.q, tokens * shape.query_heads, shape.head_dim, shape.epsilon, st);
  rmsnorm<T>(raw_k, weights.k_norm, out.k, tokens * shape.key_value_heads, shape.head_dim, shape.epsilon, st);
  rope<T>(out.q, positions, batch, length, shape.query_heads, shape.head_dim, shape.rope_theta, st);
  rope<T>(out.k, positions, batch, length, shape.key_value_heads, shape.head_dim, shape.rope_theta, st);
}

template void layer_projections(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                                const float*, const int*, int, int, const Projections<float>&);
template void layer_projections(const LayerContext&, const LayerShape&,
                                const LayerWeights<__nv_bfloat16>&, const __nv_bfloat16*,
                                const int*, int, int, const Projections<__nv_bfloat16>&);
