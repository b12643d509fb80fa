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
  const size_t narrow = static_cast<size_t>(tokens) * shape.hidden;
  const size_t wide = static_cast<size_t>(tokens) * shape.intermediate;
  T* const small[2] = {context.workspace.take<T>(narrow), context.workspace.take<T>(narrow)};
  T* const large[3] = {context.workspace.take<T>(wide), context.workspace.take<T>(wide),
                       context.workspace.take<T>(wide)};
  const auto norm = [&](const T* in, const T* weight, T* out) {
    rmsnorm(in, weight, out, tokens, shape.hidden, shape.epsilon, context.stream);
  };
  const auto project = [&](const T* in, const T* weight, T* out, int from, int to) {
    rooflab::linear(context.cublas, in, weight, out, tokens, from, to, context.stream);
  };

  norm(hidden, weights.pre_feedforward_norm, small[0]);
  project(small[0], weights.gate_proj, large[0], shape.hidden, shape.intermediate);
  project(small[0], weights.up_proj, large[1], shape.hidden, shape.intermediate);
  geglu(large[0], large[1], large[2], static_cast<std::int64_t>(wide), context.stream);
  project(large[2], weights.down_proj, small[1], shape.intermediate, shape.hidden);
  norm(small[1], weights.post_feedforward_norm, small[0]);
  rooflab::add(hidden, small[0], static_cast<std::int64_t>(narrow), context.stream);
}

template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<float>&, float*,
                        int);
template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<__nv_bfloat16>&,
                        __nv_bfloat16*, int);
