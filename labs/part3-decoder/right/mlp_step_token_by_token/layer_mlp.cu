#include <cuda_bf16.h>

#include "geglu.h"
#include "layer_steps.h"
#include "rmsnorm.h"
#include "toolkit/add.h"
#include "toolkit/linear.h"

template <typename T>
void layer_mlp(const LayerContext& context, const LayerShape& s, const LayerWeights<T>& w,
               T* hidden, int tokens) {
  const auto& [cublas, stream, workspace] = context;
  const rooflab::Workspace::Scope scope(workspace);
  T* narrow[2] = {workspace.take<T>(s.hidden), workspace.take<T>(s.hidden)};
  T* wide[3];
  for (T*& array : wide) array = workspace.take<T>(s.intermediate);
  T* row = workspace.take<T>(s.hidden);  // hidden + token * s.hidden need not be aligned
  for (int token = 0; token < tokens; ++token) {
    T* at = hidden + static_cast<std::size_t>(token) * s.hidden;
    cudaMemcpyAsync(row, at, sizeof(T) * s.hidden, cudaMemcpyDeviceToDevice, stream);
    rmsnorm(row, w.pre_feedforward_norm, narrow[0], 1, s.hidden, s.epsilon, stream);
    rooflab::linear(cublas, narrow[0], w.up_proj, wide[0], 1, s.hidden, s.intermediate, stream);
    rooflab::linear(cublas, narrow[0], w.gate_proj, wide[1], 1, s.hidden, s.intermediate, stream);
    geglu(wide[1], wide[0], wide[2], s.intermediate, stream);
    rooflab::linear(cublas, wide[2], w.down_proj, narrow[0], 1, s.intermediate, s.hidden, stream);
    rmsnorm(narrow[0], w.post_feedforward_norm, narrow[1], 1, s.hidden, s.epsilon, stream);
    rooflab::add(row, narrow[1], s.hidden, stream);
    cudaMemcpyAsync(at, row, sizeof(T) * s.hidden, cudaMemcpyDeviceToDevice, stream);
  }
}

template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<float>&, float*,
                        int);
template void layer_mlp(const LayerContext&, const LayerShape&, const LayerWeights<__nv_bfloat16>&,
                        __nv_bfloat16*, int);
