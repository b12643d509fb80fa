#include "geglu.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

__device__ float gelu_tanh(float v) {
  const float c = 0.79788456f;  // sqrt(2 / pi)
  float u = c * (v + 0.044715f * v * v * v);
  return 0.5f * v * (1.0f + tanhf(u));
}

template <typename T>
__global__ void gated(const T* gate, const T* up, T* out, std::int64_t count) {
  std::int64_t i = blockIdx.x;
  i = i * blockDim.x + threadIdx.x;
  if (i < count) {
    float g = gelu_tanh(rooflab::to_float(gate[i]));
    float u = rooflab::to_float(up[i]);
    out[i] = rooflab::from_float<T>(g * u);
  }
}

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  std::int64_t blocks = (count + 255) / 256;
  gated<T><<<(unsigned)blocks, 256, 0, stream>>>(gate, up, out, count);
  CUDA_CHECK(cudaGetLastError());
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);
