#include "geglu.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

#define TPB 256
#define SQRT_2_PI 0.7978845608028654f
#define GELU_C 0.044715f

typedef std::int64_t i64;

__device__ __forceinline__ float geluTanh(float x) {
  const float u = SQRT_2_PI * (x + GELU_C * x * x * x);
  return 0.5f * x * (1.f + tanhf(u));
}

template <typename T>
__global__ void gegluKernel(const T* gate, const T* up, T* out, i64 n) {
  const i64 i = (i64)blockIdx.x * TPB + threadIdx.x;
  if (i < n) {
    const float g = rooflab::to_float(gate[i]);
    const float u = rooflab::to_float(up[i]);
    out[i] = rooflab::from_float<T>(geluTanh(g) * u);
  }
}

template <typename T>
void geglu(const T* gate, const T* up, T* out, i64 count, cudaStream_t stream) {
  const i64 nblk = (count + TPB - 1) / TPB;
  gegluKernel<T><<<(unsigned)nblk, TPB, 0, stream>>>(gate, up, out, count);
  CUDA_CHECK(cudaGetLastError());
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);
