#include "mlp.h"

#include <cuda_fp16.h>

#include "toolkit/check.h"
#include "toolkit/linear.h"

__device__ float number(float x) { return x; }
__device__ float number(__half x) { return __half2float(x); }
__device__ void store(float* to, float x) { *to = x; }
__device__ void store(__half* to, float x) { *to = __float2half(x); }

template <typename T>
__global__ void gate_and_up(const T* x, const T* gate_proj, const T* up_proj, T* product,
                            MlpShape shape) {
  const int feature = blockIdx.y * blockDim.x + threadIdx.x;
  const int token = blockIdx.x;
  if (feature >= shape.intermediate) return;
  float gate = 0;
  float up = 0;
  for (int i = 0; i < shape.hidden; ++i) {
    const float in = number(x[static_cast<size_t>(token) * shape.hidden + i]);
    gate += in * number(gate_proj[static_cast<size_t>(feature) * shape.hidden + i]);
    up += in * number(up_proj[static_cast<size_t>(feature) * shape.hidden + i]);
  }
  const float inner = 0.7978845608f * (gate + 0.044715f * gate * gate * gate);
  store(&product[static_cast<size_t>(token) * shape.intermediate + feature],
        0.5f * gate * (1.0f + tanhf(inner)) * up);
}

template <typename T>
__global__ void down(const T* product, const T* down_proj, T* out, MlpShape shape) {
  const int feature = blockIdx.y * blockDim.x + threadIdx.x;
  const int token = blockIdx.x;
  if (feature >= shape.hidden) return;
  float sum = 0;
  for (int i = 0; i < shape.intermediate; ++i) {
    sum += number(product[static_cast<size_t>(token) * shape.intermediate + i]) *
           number(down_proj[static_cast<size_t>(feature) * shape.intermediate + i]);
  }
  store(&out[static_cast<size_t>(token) * shape.hidden + feature], sum);
}

template <typename T>
void gated_mlp(const MlpContext& context, const T* x, const T* gate_proj, const T* up_proj,
               const T* down_proj, T* out, const MlpShape& shape) {
  const rooflab::Workspace::Scope scope(context.workspace);
  T* product = context.workspace.take<T>(static_cast<size_t>(shape.tokens) * shape.intermediate);
  gate_and_up<<<dim3(shape.tokens, (shape.intermediate + 127) / 128), 128, 0, context.stream>>>(
      x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
  down<<<dim3(shape.tokens, (shape.hidden + 127) / 128), 128, 0, context.stream>>>(
      product, down_proj, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void gated_mlp(const MlpContext&, const float*, const float*, const float*, const float*,
                        float*, const MlpShape&);
template void gated_mlp(const MlpContext&, const __half*, const __half*, const __half*,
                        const __half*, __half*, const MlpShape&);
