#include <cuda_bf16.h>

#include "layer_steps.h"
#include "rmsnorm.h"
#include "rope.h"
#include "toolkit/linear.h"

template <typename T>
void layer_projections(const LayerContext& context, const LayerShape& s, const LayerWeights<T>& w,
                       const T* hidden, const int* positions, int batch, int length,
                       const Projections<T>& out) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const int tokens = batch * length;
  const auto room = [&](int width) {
    return context.workspace.take<T>(static_cast<std::size_t>(tokens) * width);
  };
  T* x = room(s.hidden);
  T* plain = room(s.query_heads * s.head_dim);  // of the queries, then of the keys
  rmsnorm(hidden, w.input_norm, x, tokens, s.hidden, s.epsilon, context.stream);
  const auto project = [&](const T* weight, T* y, int heads) {
    rooflab::linear(context.cublas, x, weight, y, tokens, s.hidden, heads * s.head_dim,
                    context.stream);
  };
  const auto heads_of = [&](const T* weight, const T* norm, T* y, int heads) {
    project(weight, plain, heads);
    rmsnorm(plain, norm, y, tokens * heads, s.head_dim, s.epsilon, context.stream);
    rope(y, positions, batch, length, heads, s.head_dim, s.rope_theta, context.stream);
  };
  project(w.v_proj, out.v, s.key_value_heads);
  heads_of(w.k_proj, w.k_norm, out.k, s.key_value_heads);
  heads_of(w.q_proj, w.q_norm, out.q, s.query_heads);
}

template void layer_projections(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                                const float*, const int*, int, int, const Projections<float>&);
template void layer_projections(const LayerContext&, const LayerShape&,
                                const LayerWeights<__nv_bfloat16>&, const __nv_bfloat16*,
                                const int*, int, int, const Projections<__nv_bfloat16>&);
