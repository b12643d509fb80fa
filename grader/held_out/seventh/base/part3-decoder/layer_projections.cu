#include <cuda_bf16.h>

#include "layer_steps.h"
#include "rmsnorm.h"
#include "rope.h"
#include "toolkit/linear.h"

template <typename T>
void layer_projections(const LayerContext& ctx, const LayerShape& s, const LayerWeights<T>& w,
                       const T* hidden, const int* positions, int batch, int length,
                       const Projections<T>& out) {
  rooflab::Workspace::Scope scope(ctx.workspace);
  const int tokens = batch * length;
  const int qdim = s.query_heads * s.head_dim;
  const int kvdim = s.key_value_heads * s.head_dim;
  T* x = ctx.workspace.take<T>((size_t)tokens * s.hidden);
  T* q = ctx.workspace.take<T>((size_t)tokens * qdim);   // before the norm
  T* k = ctx.workspace.take<T>((size_t)tokens * kvdim);

  rmsnorm(hidden, w.input_norm, x, tokens, s.hidden, s.epsilon, ctx.stream);

  auto gemm = [&](const T* weight, T* dst, int n) {
    rooflab::linear(ctx.cublas, x, weight, dst, tokens, s.hidden, n, ctx.stream);
  };
  gemm(w.q_proj, q, qdim);
  gemm(w.k_proj, k, kvdim);
  gemm(w.v_proj, out.v, kvdim);

  // QK norm, head by head
  rmsnorm(q, w.q_norm, out.q, tokens * s.query_heads, s.head_dim, s.epsilon, ctx.stream);
  rmsnorm(k, w.k_norm, out.k, tokens * s.key_value_heads, s.head_dim, s.epsilon, ctx.stream);

  rope(out.q, positions, batch, length, s.query_heads, s.head_dim, s.rope_theta, ctx.stream);
  rope(out.k, positions, batch, length, s.key_value_heads, s.head_dim, s.rope_theta, ctx.stream);
}

template void layer_projections(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                                const float*, const int*, int, int, const Projections<float>&);
template void layer_projections(const LayerContext&, const LayerShape&,
                                const LayerWeights<__nv_bfloat16>&, const __nv_bfloat16*,
                                const int*, int, int, const Projections<__nv_bfloat16>&);
