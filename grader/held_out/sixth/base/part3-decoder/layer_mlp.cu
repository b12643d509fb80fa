#include <cuda_bf16.h>

#include "geglu.h"
#include "layer_steps.h"
#include "rmsnorm.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"

template <typename T>
void layer_mlp(const LayerContext& context, const LayerShape& shape, const LayerWeights<T>& weights,
               T* hidden, int tokens) {
  rooflab::Workspace::Scope scope(context.workspace);
  size_t narrow = (size_t)tokens * shape.hidden;
  size_t wide = (size_t)tokens * shape.intermediate;
  T* normed = context.workspace.take<T>(narrow);
  T* gate = context.workspace.take<T>(wide);
  T* up = context.workspace.take<T>(wide);
  T* product = context.workspace.take<T>(wide);
  T* down = context.workspace.take<T>(narrow);
  T* result = context.workspace.take<T>(narrow);
  cudaStream_t stream = context.stream;

  rmsnorm(hidden, weights.pre_feedforward_norm, normed, tokens, shape.hidden, shape.epsilon,
          stream);
  rooflab::linear(context.cublas, normed, weights.gate_proj, gate, tokens, shape.hidden,
                  shape.intermediate, stream);
  rooflab::linear(context.cublas, normed, weights.up_proj, up, tokens, shape.hidden,
                  shape.intermediate, stream);
  geglu(gate, up, product, (std::int64_t)wide, stream);
  rooflab::linear(context.cublas, product, weights.down_proj, down, tokens, shape.intermediate,
                  shape.hidden, stream);
  rmsnorm(down, weights.post_feedforward_norm, result, tokens, shape.hidden, shape.epsilon, stream);
  rooflab::add(hidden, result, (std::int64_t)narrow, stream);
}

template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<float>&, float*,
                        int);
template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<__nv_bfloat16>&,
                        __nv_bfloat16*, int);
