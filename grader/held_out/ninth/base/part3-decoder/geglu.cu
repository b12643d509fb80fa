#include "geglu.h"

#include <algorithm>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

static __device__ float gelu_tanh(float g) {
  const float c = 0.7978845608028654f;
  float u = c * (g + 0.044715f * g * g * g);
  return 0.5f * g * (1.0f + tanhf(u));
}

template <typename T>
__global__ void geglu_k(const T* g, const T* u, T* o, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  long long step = (long long)gridDim.x * blockDim.x;
  for (; i < n; i += step)
    o[i] = rooflab::from_float<T>(gelu_tanh(rooflab::to_float(g[i])) * rooflab::to_float(u[i]));
}

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  long long want = (count + 255) / 256;
  int blocks = (int)std::min<long long>(want, 2048);
  geglu_k<T><<<blocks, 256, 0, stream>>>(gate, up, out, count);
  CUDA_CHECK(cudaGetLastError());
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);
