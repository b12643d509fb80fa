#include "rmsnorm.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

#define TPB 256
#define WARP 32
#define NWARPS (TPB / WARP)
#define FULL_MASK 0xffffffffu

using rooflab::from_float;
using rooflab::to_float;

// one block per row
template <typename T>
__global__ void rmsnormKernel(const T* x, const T* w, T* y, int width, float eps) {
  __shared__ float s_part[NWARPS];
  __shared__ float s_scale;
  const int tid = threadIdx.x;
  const size_t off = (size_t)blockIdx.x * width;

  float ss = 0.f;
  for (int i = tid; i < width; i += TPB) {
    const float v = to_float(x[off + i]);
    ss += v * v;
  }
  for (int d = WARP / 2; d > 0; d >>= 1) ss += __shfl_down_sync(FULL_MASK, ss, d);
  if (tid % WARP == 0) s_part[tid / WARP] = ss;
  __syncthreads();

  if (tid == 0) {
    float tot = 0.f;
    for (int i = 0; i < NWARPS; i++) tot += s_part[i];
    s_scale = rsqrtf(tot / width + eps);
  }
  __syncthreads();

  const float scale = s_scale;
  for (int i = tid; i < width; i += TPB) {
    const float g = 1.f + to_float(w[i]);
    y[off + i] = from_float<T>(to_float(x[off + i]) * scale * g);
  }
}

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  rmsnormKernel<T><<<rows, TPB, 0, stream>>>(x, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
