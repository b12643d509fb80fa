#include <cuda_bf16.h>

#include <cstdint>

#include "geglu.h"
#include "layer_steps.h"
#include "rmsnorm.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"

template <typename T>
void layer_mlp(const LayerContext& context, const LayerShape& shape, const LayerWeights<T>& weights,
               T* hidden, int tokens) {
  rooflab::Workspace::Scope scope(context.workspace);
  const std::int64_t narrow = static_cast<std::int64_t>(tokens) * shape.hidden;
  const std::int64_t wide = static_cast<std::int64_t>(tokens) * shape.intermediate;
  T* normed = context.workspace.take<T>(narrow);
  T* gate = context.workspace.take<T>(wide);
  T* up = context.workspace.take<T>(wide);
  T* gated = context.workspace.take<T>(wide);
  T* down = context.workspace.take<T>(narrow);

  rmsnorm(hidden, weights.pre_feedforward_norm, normed, tokens, shape.hidden, shape.epsilon,
          context.stream);
  rooflab::linear(context.cublas, normed, weights.gate_proj, gate, tokens, shape.hidden,
                  shape.intermediate, context.stream);
  rooflab::linear(context.cublas, normed, weights.up_proj, up, tokens, shape.hidden,
                  shape.intermediate, context.stream);
  geglu(gate, up, gated, wide, context.stream);
  rooflab::linear(context.cublas, gated, weights.down_proj, down, tokens, shape.intermediate,
                  shape.hidden, context.stream);
  rmsnorm(down, weights.post_feedforward_norm, normed, tokens, shape.hidden, shape.epsilon,
          context.stream);
  rooflab::add(hidden, normed, narrow, context.stream);
}

template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<float>&, float*,
                        int);
template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<__nv_bfloat16>&,
                        __nv_bfloat16*, int);
