#include <cuda_bf16.h>

#include "fused_gelu.h"
#include "toolkit/check.h"

__device__ float number(float x) { return x; }
__device__ float number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void store(float* to, float x) { *to = x; }
__device__ void store(__nv_bfloat16* to, float x) { *to = __float2bfloat16(x); }

constexpr int kPerThread = 16;

template <typename T>
__global__ void gelu(const T* x, T* y, std::int64_t count) {
  const std::int64_t first =
      (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kPerThread;
  for (int j = 0; j < kPerThread && first + j < count; ++j) {
    const float v = number(x[first + j]);
    const float inner = sqrtf(2 / 3.14159265f) * (v + 0.044715f * v * v * v);
    store(&y[first + j], 0.5f * v * (1 + tanhf(inner)));
  }
}

template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  const std::int64_t threads = (count + kPerThread - 1) / kPerThread;
  gelu<<<static_cast<unsigned>((threads + 127) / 128), 128, 0, stream>>>(x, y, count);
  CUDA_CHECK(cudaGetLastError());
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
