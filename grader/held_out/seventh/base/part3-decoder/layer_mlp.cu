#include <cuda_bf16.h>

#include "geglu.h"
#include "layer_steps.h"
#include "rmsnorm.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"

template <typename T>
void layer_mlp(const LayerContext& ctx, const LayerShape& s, const LayerWeights<T>& w, T* hidden,
               int tokens) {
  rooflab::Workspace::Scope scope(ctx.workspace);
  const size_t nH = (size_t)tokens * s.hidden;
  const size_t nI = (size_t)tokens * s.intermediate;
  T* x = ctx.workspace.take<T>(nH);
  T* gate = ctx.workspace.take<T>(nI);
  T* up = ctx.workspace.take<T>(nI);
  T* act = ctx.workspace.take<T>(nI);
  T* y = ctx.workspace.take<T>(nH);

  auto norm = [&](const T* src, const T* weight, T* dst) {
    rmsnorm(src, weight, dst, tokens, s.hidden, s.epsilon, ctx.stream);
  };
  auto gemm = [&](const T* src, const T* weight, T* dst, int in, int out) {
    rooflab::linear(ctx.cublas, src, weight, dst, tokens, in, out, ctx.stream);
  };

  norm(hidden, w.pre_feedforward_norm, x);
  gemm(x, w.gate_proj, gate, s.hidden, s.intermediate);
  gemm(x, w.up_proj, up, s.hidden, s.intermediate);
  geglu(gate, up, act, nI, ctx.stream);
  gemm(act, w.down_proj, y, s.intermediate, s.hidden);
  norm(y, w.post_feedforward_norm, x);
  rooflab::add(hidden, x, nH, ctx.stream);
}

template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<float>&, float*,
                        int);
template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<__nv_bfloat16>&,
                        __nv_bfloat16*, int);
