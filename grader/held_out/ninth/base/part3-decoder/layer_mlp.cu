#include <cuda_bf16.h>

#include "geglu.h"
#include "layer_steps.h"
#include "rmsnorm.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"

template <typename T>
void layer_mlp(const LayerContext& context, const LayerShape& shape, const LayerWeights<T>& weights,
               T* hidden, int tokens) {
  auto& ws = context.workspace;
  const rooflab::Workspace::Scope scope(ws);
  const int H = shape.hidden, I = shape.intermediate;
  const size_t small = size_t(tokens) * H, large = size_t(tokens) * I;
  T* normed = ws.take<T>(small);
  T* gate = ws.take<T>(large);
  T* up = ws.take<T>(large);
  T* act = ws.take<T>(large);
  T* down = ws.take<T>(small);
  auto matmul = [&](const T* in, const T* w, T* result, int from, int to) {
    rooflab::linear(context.cublas, in, w, result, tokens, from, to, context.stream);
  };
  rmsnorm(hidden, weights.pre_feedforward_norm, normed, tokens, H, shape.epsilon, context.stream);
  matmul(normed, weights.gate_proj, gate, H, I);
  matmul(normed, weights.up_proj, up, H, I);
  geglu(gate, up, act, std::int64_t(tokens) * I, context.stream);
  matmul(act, weights.down_proj, down, I, H);
  rmsnorm(down, weights.post_feedforward_norm, normed, tokens, H, shape.epsilon, context.stream);
  rooflab::add(hidden, normed, std::int64_t(tokens) * H, context.stream);
}

template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<float>&, float*,
                        int);
template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<__nv_bfloat16>&,
                        __nv_bfloat16*, int);
