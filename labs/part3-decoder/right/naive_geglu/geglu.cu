#include "geglu.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

__device__ float number(float x) { return x; }
__device__ float number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void store(float* to, float x) { *to = x; }
__device__ void store(__nv_bfloat16* to, float x) { *to = __float2bfloat16(x); }

constexpr int kPerThread = 32;

template <typename T>
__global__ void gate_up(const T* gate, const T* up, T* out, std::int64_t count) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t i = thread * kPerThread; i < (thread + 1) * kPerThread; ++i) {
    if (i < count) {
      const float x = number(gate[i]);
      const float gelu =
          0.5f * x * (1 + tanhf(sqrtf(2 / 3.14159265f) * (x + 0.044715f * x * x * x)));
      store(&out[i], gelu * number(up[i]));
    }
  }
}

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  const std::int64_t threads = (count + kPerThread - 1) / kPerThread;
  const auto blocks = static_cast<unsigned>((threads + 127) / 128);
  gate_up<<<blocks, 128, 0, stream>>>(gate, up, out, count);
  CUDA_CHECK(cudaGetLastError());
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);
