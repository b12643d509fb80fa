#include <cuda_bf16.h>

#include "geglu.h"
#include "layer_steps.h"
#include "rmsnorm.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"
#include "toolkit/todo.h"

template <typename T>
void layer_mlp(const LayerContext& context, const LayerShape& shape, const LayerWeights<T>& weights,
               T* hidden, int tokens) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("norm hidden, project to gate and up, geglu, project down; norm and add");
  rooflab::Workspace& workspace = context.workspace;
  const rooflab::Workspace::Scope scope(workspace);
  const cudaStream_t stream = context.stream;
  const auto hidden_size = static_cast<std::int64_t>(tokens) * shape.hidden;
  const auto wide_size = static_cast<std::int64_t>(tokens) * shape.intermediate;
  T* x = workspace.take<T>(hidden_size);
  T* gate = workspace.take<T>(wide_size);
  T* up = workspace.take<T>(wide_size);
  T* gated = workspace.take<T>(wide_size);
  T* down = workspace.take<T>(hidden_size);
  T* normed = workspace.take<T>(hidden_size);

  rmsnorm(hidden, weights.pre_feedforward_norm, x, tokens, shape.hidden, shape.epsilon, stream);
  rooflab::linear(context.cublas, x, weights.gate_proj, gate, tokens, shape.hidden,
                  shape.intermediate, stream);
  rooflab::linear(context.cublas, x, weights.up_proj, up, tokens, shape.hidden, shape.intermediate,
                  stream);
  geglu(gate, up, gated, wide_size, stream);
  rooflab::linear(context.cublas, gated, weights.down_proj, down, tokens, shape.intermediate,
                  shape.hidden, stream);
  rmsnorm(down, weights.post_feedforward_norm, normed, tokens, shape.hidden, shape.epsilon, stream);
  rooflab::add(hidden, normed, hidden_size, stream);
  // END SOLUTION
}

template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<float>&, float*,
                        int);
template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<__nv_bfloat16>&,
                        __nv_bfloat16*, int);
