#include "geglu.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

#define THREADS 256
#define MOST_BLOCKS 8192

__device__ static float gelu_of(float g) {
  const float root_two_over_pi = 0.7978845608f;
  const float cubic = 0.044715f;
  float inner = root_two_over_pi * (g + cubic * g * g * g);
  return 0.5f * g * (1.0f + tanhf(inner));
}

template <typename T>
__global__ void geglu_kernel(const T* gate, const T* up, T* out, std::int64_t count) {
  std::int64_t jump = (std::int64_t)gridDim.x * THREADS;
  std::int64_t i = (std::int64_t)blockIdx.x * THREADS + threadIdx.x;
  while (i < count) {
    float g = rooflab::to_float(gate[i]);
    float u = rooflab::to_float(up[i]);
    out[i] = rooflab::from_float<T>(gelu_of(g) * u);
    i += jump;
  }
}

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  std::int64_t blocks = (count + THREADS - 1) / THREADS;
  if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;
  geglu_kernel<T><<<(int)blocks, THREADS, 0, stream>>>(gate, up, out, count);
  CUDA_CHECK(cudaGetLastError());
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);
