#include <cuda_bf16.h>

#include "geglu.h"
#include "layer_steps.h"
#include "rmsnorm.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"

template <typename T>
void layer_mlp(const LayerContext& context, const LayerShape& shape, const LayerWeights<T>& weights,
               T* hidden, int tokens) {
  rooflab::Workspace& room = context.workspace;
  const rooflab::Workspace::Scope scope(room);
  const auto narrow = static_cast<std::size_t>(tokens) * shape.hidden;
  const auto wide = static_cast<std::size_t>(tokens) * shape.intermediate;
  T* normed = room.take<T>(narrow);
  T* gate = room.take<T>(wide);
  T* up = room.take<T>(wide);
  T* product = room.take<T>(wide);

  rmsnorm(hidden, weights.pre_feedforward_norm, normed, tokens, shape.hidden, shape.epsilon,
          context.stream);
  const auto linear = [&](const T* x, const T* weight, T* y, int in, int out) {
    rooflab::linear(context.cublas, x, weight, y, tokens, in, out, context.stream);
  };
  linear(normed, weights.gate_proj, gate, shape.hidden, shape.intermediate);
  linear(normed, weights.up_proj, up, shape.hidden, shape.intermediate);
  geglu(gate, up, product, wide, context.stream);

  T* down = room.take<T>(narrow);
  linear(product, weights.down_proj, down, shape.intermediate, shape.hidden);
  rmsnorm(down, weights.post_feedforward_norm, normed, tokens, shape.hidden, shape.epsilon,
          context.stream);
  rooflab::add(hidden, normed, narrow, context.stream);
}

template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<float>&, float*,
                        int);
template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<__nv_bfloat16>&,
                        __nv_bfloat16*, int);
