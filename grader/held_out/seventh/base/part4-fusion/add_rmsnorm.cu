#include "add_rmsnorm.h"

#include <cuda_bf16.h>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

#define TPB 128
#define LOG_TPB 7

using rooflab::from_float;
using rooflab::to_float;

template <typename T>
__global__ void addNorm(const T* x, T* res, const T* w, T* y, int width, float eps) {
  __shared__ float s[TPB];
  const int tid = threadIdx.x;
  const size_t base = (size_t)blockIdx.x * width;

  float sq = 0.f;
  for (int i = tid; i < width; i += TPB) {
    const T r = from_float<T>(to_float(x[base + i]) + to_float(res[base + i]));
    res[base + i] = r;
    const float f = to_float(r);  // as stored
    sq += f * f;
  }

  // tree reduction in shared memory
  s[tid] = sq;
  __syncthreads();
  for (int k = LOG_TPB - 1; k >= 0; k--) {
    const int half = 1 << k;
    if (tid < half) s[tid] += s[tid + half];
    __syncthreads();
  }

  const float inv = rsqrtf(s[0] / width + eps);
  for (int i = tid; i < width; i += TPB) {
    const float v = to_float(res[base + i]) * inv;
    y[base + i] = from_float<T>(v * (1.f + to_float(w[i])));
  }
}

template <typename T>
void add_rmsnorm(const T* x, T* residual, const T* weight, T* y, int rows, int width, float epsilon,
                 cudaStream_t stream) {
  addNorm<T><<<rows, TPB, 0, stream>>>(x, residual, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void add_rmsnorm(const float*, float*, const float*, float*, int, int, float,
                          cudaStream_t);
template void add_rmsnorm(const __nv_bfloat16*, __nv_bfloat16*, const __nv_bfloat16*,
                          __nv_bfloat16*, int, int, float, cudaStream_t);
