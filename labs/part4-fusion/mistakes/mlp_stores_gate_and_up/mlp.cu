#include "mlp.h"

#include <cuda_fp16.h>

#include "toolkit/check.h"
#include "toolkit/linear.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kThreads = 256;

template <typename T>
__global__ void gated_product_kernel(T* gate, const T* up, int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  const float x = rooflab::to_float(gate[i]);
  const float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
  gate[i] = rooflab::from_float<T>(0.5f * x * (1.0f + tanhf(inner)) * rooflab::to_float(up[i]));
}

}  // namespace

template <typename T>
void gated_mlp(const MlpContext& context, const T* x, const T* gate_proj, const T* up_proj,
               const T* down_proj, T* out, const MlpShape& shape) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const int count = shape.tokens * shape.intermediate;
  T* gate = context.workspace.take<T>(count);
  T* up = context.workspace.take<T>(count);
  rooflab::linear(context.cublas, x, gate_proj, gate, shape.tokens, shape.hidden,
                  shape.intermediate, context.stream);
  rooflab::linear(context.cublas, x, up_proj, up, shape.tokens, shape.hidden, shape.intermediate,
                  context.stream);
  gated_product_kernel<<<(count + kThreads - 1) / kThreads, kThreads, 0, context.stream>>>(gate, up,
                                                                                           count);
  CUDA_CHECK(cudaGetLastError());
  rooflab::linear(context.cublas, gate, down_proj, out, shape.tokens, shape.intermediate,
                  shape.hidden, context.stream);
}

template void gated_mlp(const MlpContext&, const float*, const float*, const float*, const float*,
                        float*, const MlpShape&);
template void gated_mlp(const MlpContext&, const __half*, const __half*, const __half*,
                        const __half*, __half*, const MlpShape&);
