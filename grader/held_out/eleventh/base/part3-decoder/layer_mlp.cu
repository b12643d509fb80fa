#include <cuda_bf16.h>

#include "geglu.h"
#include "layer_steps.h"
#include "rmsnorm.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"

template <typename T>
void layer_mlp(const LayerContext& context, const LayerShape& shape, const LayerWeights<T>& weights,
               T* hidden, int tokens) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const int narrow = shape.hidden;
  const int wide = shape.intermediate;
  const std::int64_t inner = static_cast<std::int64_t>(tokens) * wide;
  const std::int64_t outer = static_cast<std::int64_t>(tokens) * narrow;
  T* x = context.workspace.take<T>(outer);
  T* gate = context.workspace.take<T>(inner);
  T* up = context.workspace.take<T>(inner);
  T* gated = context.workspace.take<T>(inner);
  T* down = context.workspace.take<T>(outer);

  rmsnorm(hidden, weights.pre_feedforward_norm, x, tokens, narrow, shape.epsilon, context.stream);
  rooflab::linear(context.cublas, x, weights.gate_proj, gate, tokens, narrow, wide, context.stream);
  rooflab::linear(context.cublas, x, weights.up_proj, up, tokens, narrow, wide, context.stream);
  geglu(gate, up, gated, inner, context.stream);
  rooflab::linear(context.cublas, gated, weights.down_proj, down, tokens, wide, narrow,
                  context.stream);
  // x is not needed any more: it takes the norm of the result.
  rmsnorm(down, weights.post_feedforward_norm, x, tokens, narrow, shape.epsilon, context.stream);
  rooflab::add(hidden, x, outer, context.stream);
}

template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<float>&, float*,
                        int);
template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<__nv_bfloat16>&,
                        __nv_bfloat16*, int);
