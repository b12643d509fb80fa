#include <cuda_bf16.h>

#include "layer_steps.h"
#include "rmsnorm.h"
#include "rope.h"
#include "toolkit/linear.h"

template <typename T>
void layer_projections(const LayerContext& context, const LayerShape& shape,
                       const LayerWeights<T>& weights, const T* hidden, const int* positions,
                       int batch, int length, const Projections<T>& out) {
  rooflab::Workspace& ws = context.workspace;
  const rooflab::Workspace::Scope scope(ws);
  const int tokens = batch * length;
  const int qw = shape.query_heads * shape.head_dim, kw = shape.key_value_heads * shape.head_dim;
  T* x = ws.take<T>(size_t(tokens) * shape.hidden);
  T* raw_q = ws.take<T>(size_t(tokens) * qw);
  T* raw_k = ws.take<T>(size_t(tokens) * kw);
  rmsnorm(hidden, weights.input_norm, x, tokens, shape.hidden, shape.epsilon, context.stream);
  rooflab::linear(context.cublas, x, weights.q_proj, raw_q, tokens, shape.hidden, qw,
                  context.stream);
  rooflab::linear(context.cublas, x, weights.k_proj, raw_k, tokens, shape.hidden, kw,
                  context.stream);
  rooflab::linear(context.cublas, x, weights.v_proj, out.v, tokens, shape.hidden, kw,
                  context.stream);
  rmsnorm(raw_q, weights.q_norm, out.q, tokens * shape.query_heads, shape.head_dim, shape.epsilon,
          context.stream);
  rmsnorm(raw_k, weights.k_norm, out.k, tokens * shape.key_value_heads, shape.head_dim,
          shape.epsilon, context.stream);
  rope(out.q, positions, batch, length, shape.query_heads, shape.head_dim, shape.rope_theta,
       context.stream);
  rope(out.k, positions, batch, length, shape.key_value_heads, shape.head_dim, shape.rope_theta,
       context.stream);
}

template void layer_projections(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                                const float*, const int*, int, int, const Projections<float>&);
template void layer_projections(const LayerContext&, const LayerShape&,
                                const LayerWeights<__nv_bfloat16>&, const __nv_bfloat16*,
                                const int*, int, int, const Projections<__nv_bfloat16>&);
