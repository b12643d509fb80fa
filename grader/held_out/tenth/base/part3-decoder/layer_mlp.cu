#include <cuda_bf16.h>

#include "geglu.h"
#include "layer_steps.h"
#include "rmsnorm.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"

template <typename T>
void layer_mlp(const LayerContext& context, const LayerShape& shape, const LayerWeights<T>& weights,
               T* hidden, int tokens) {
  rooflab::Workspace::Scope give_back(context.workspace);
  auto room = [&](int columns) {
    return context.workspace.template take<T>(static_cast<size_t>(tokens) * columns);
  };
  T* normed = room(shape.hidden);
  T* gate = room(shape.intermediate);
  T* up = room(shape.intermediate);
  T* product = room(shape.intermediate);
  rmsnorm<T>(hidden, weights.pre_feedforward_norm, normed, tokens, shape.hidden, shape.epsilon,
          context.stream);
  rooflab::linear<T>(context.cublas, normed, weights.gate_proj, gate, tokens, shape.hidden,
                  shape.intermediate, context.stream);
  rooflab::linear<T>(context.cublas, normed, weights.up_proj, up, tokens, shape.hidden,
                  shape.intermediate, context.stream);
  geglu<T>(gate, up, product, static_cast<std::int64_t>(tokens) * shape.intermediate, context.stream);
  T* down = normed;  // nobody needs it any more
  rooflab::linear<T>(context.cublas, product, weights.down_proj, down, tokens, shape.intermediate,
                  shape.hidden, context.stream);
  T* result = room(shape.hidden);
  rmsnorm<T>(down, weights.post_feedforward_norm, result, tokens, shape.hidden, shape.epsilon,
          context.stream);
  rooflab::add<T>(hidden, result, static_cast<std::int64_t>(tokens) * shape.hidden, context.stream);
}

template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<float>&, float*,
                        int);
template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<__nv_bfloat16>&,
                        __nv_bfloat16*, int);
