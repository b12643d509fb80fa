#include <cuda_bf16.h>

#include "geglu.h"
#include "layer_steps.h"
#include "rmsnorm.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"

template <typename T>
void layer_mlp(const LayerContext& context, const LayerShape& shape, const LayerWeights<T>& weights,
               T* hidden, int tokens) {
  const std::size_t narrow = static_cast<std::size_t>(tokens) * shape.hidden;
  const std::size_t wide = static_cast<std::size_t>(tokens) * shape.intermediate;
  const rooflab::Workspace::Scope scope(context.workspace);
  T* first = context.workspace.take<T>(narrow);
  T* second = context.workspace.take<T>(narrow);
  T* gate = context.workspace.take<T>(wide);
  T* up = context.workspace.take<T>(wide);
  T* product = context.workspace.take<T>(wide);
  const auto on = context.stream;

  rmsnorm(hidden, weights.pre_feedforward_norm, first, tokens, shape.hidden, shape.epsilon, on);
  const auto widen = [&](const T* weight, T* to) {
    rooflab::linear(context.cublas, first, weight, to, tokens, shape.hidden, shape.intermediate,
                    on);
  };
  widen(weights.up_proj, up);
  widen(weights.gate_proj, gate);
  geglu(gate, up, product, static_cast<std::int64_t>(wide), on);
  rooflab::linear(context.cublas, product, weights.down_proj, second, tokens, shape.intermediate,
                  shape.hidden, on);
  rmsnorm(second, weights.post_feedforward_norm, first, tokens, shape.hidden, shape.epsilon, on);
  rooflab::add(hidden, first, static_cast<std::int64_t>(narrow), on);
}

template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<float>&, float*,
                        int);
template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<__nv_bfloat16>&,
                        __nv_bfloat16*, int);
