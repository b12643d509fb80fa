#include <cuda_bf16.h>

#include "layer_steps.h"
#include "rmsnorm.h"
#include "rope.h"
#include "toolkit/linear.h"

template <typename T>
void layer_projections(const LayerContext& context, const LayerShape& shape,
                       const LayerWeights<T>& weights, const T* hidden, const int* positions,
                       int batch, int length, const Projections<T>& out) {
  rooflab::Workspace::Scope scope(context.workspace);
  const int tokens = batch * length;
  const int q_width = shape.query_heads * shape.head_dim;
  const int kv_width = shape.key_value_heads * shape.head_dim;
  T* x = context.workspace.take<T>(static_cast<std::size_t>(tokens) * shape.hidden);
  T* raw_q = context.workspace.take<T>(static_cast<std::size_t>(tokens) * q_width);
  T* raw_k = context.workspace.take<T>(static_cast<std::size_t>(tokens) * kv_width);

  rmsnorm(hidden, weights.input_norm, x, tokens, shape.hidden, shape.epsilon, context.stream);
  const auto project = [&](const T* weight, T* to, int width) {
    rooflab::linear(context.cublas, x, weight, to, tokens, shape.hidden, width, context.stream);
  };
  project(weights.q_proj, raw_q, q_width);
  project(weights.k_proj, raw_k, kv_width);
  project(weights.v_proj, out.v, kv_width);

  const auto finish = [&](const T* raw, const T* norm, T* to, int heads) {
    rmsnorm(raw, norm, to, tokens * heads, shape.head_dim, shape.epsilon, context.stream);
    rope(to, positions, batch, length, heads, shape.head_dim, shape.rope_theta, context.stream);
  };
  finish(raw_q, weights.q_norm, out.q, shape.query_heads);
  finish(raw_k, weights.k_norm, out.k, shape.key_value_heads);
}

template void layer_projections(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                                const float*, const int*, int, int, const Projections<float>&);
template void layer_projections(const LayerContext&, const LayerShape&,
                                const LayerWeights<__nv_bfloat16>&, const __nv_bfloat16*,
                                const int*, int, int, const Projections<__nv_bfloat16>&);
