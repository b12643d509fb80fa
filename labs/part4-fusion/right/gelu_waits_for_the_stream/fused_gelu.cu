#include "fused_gelu.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

template <typename T>
__global__ void gelu_of_each(const T* x, T* y, std::int64_t count) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  const float v = x[i];
  y[i] = T(0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v))));
}

template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  CUDA_CHECK(cudaStreamSynchronize(stream));
  const auto blocks = static_cast<unsigned>((count + 511) / 512);
  gelu_of_each<<<blocks, 512, 0, cudaStreamPerThread>>>(x, y, count);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
