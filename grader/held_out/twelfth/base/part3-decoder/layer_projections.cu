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
  const int narrow = shape.key_value_heads * shape.head_dim;
  T* normed = context.workspace.take<T>(static_cast<std::size_t>(tokens) * shape.hidden);
  rmsnorm(hidden, weights.input_norm, normed, tokens, shape.hidden, shape.epsilon, context.stream);

  // A projection that is then normed and rotated head by head.
  const auto project = [&](const T* weight, const T* norm, int heads, T* result) {
    const int width = heads * shape.head_dim;
    T* raw = context.workspace.take<T>(static_cast<std::size_t>(tokens) * width);
    rooflab::linear(context.cublas, normed, weight, raw, tokens, shape.hidden, width,
                    context.stream);
    rmsnorm(raw, norm, result, tokens * heads, shape.head_dim, shape.epsilon, context.stream);
    rope(result, positions, batch, length, heads, shape.head_dim, shape.rope_theta, context.stream);
  };
  project(weights.q_proj, weights.q_norm, shape.query_heads, out.q);
  project(weights.k_proj, weights.k_norm, shape.key_value_heads, out.k);
  rooflab::linear(context.cublas, normed, weights.v_proj, out.v, tokens, shape.hidden, narrow,
                  context.stream);
}

template void layer_projections(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                                const float*, const int*, int, int, const Projections<float>&);
template void layer_projections(const LayerContext&, const LayerShape&,
                                const LayerWeights<__nv_bfloat16>&, const __nv_bfloat16*,
                                const int*, int, int, const Projections<__nv_bfloat16>&);
