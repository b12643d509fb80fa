#include "add_rmsnorm.h"

#include <algorithm>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

template <typename T>
__global__ void add_norm_row(const T* x, T* residual, const T* weight, T* y, int width, float eps) {
  __shared__ float scale;
  long long off = (long long)blockIdx.x * width;
  const T* xr = x + off;
  T* rr = residual + off;
  T* yr = y + off;
  float sq = 0.f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    T stored = rooflab::from_float<T>(rooflab::to_float(rr[i]) + rooflab::to_float(xr[i]));
    rr[i] = stored;
    float f = rooflab::to_float(stored);
    sq += f * f;
  }
  float all = block_sum(sq);
  if (threadIdx.x == 0) scale = 1.0f / sqrtf(all / width + eps);
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    yr[i] = rooflab::from_float<T>(rooflab::to_float(rr[i]) * scale *
                                   (1.0f + rooflab::to_float(weight[i])));
}

template <typename T>
void add_rmsnorm(const T* x, T* residual, const T* weight, T* y, int rows, int width, float epsilon,
                 cudaStream_t stream) {
  add_norm_row<T><<<rows, 160, 0, stream>>>(x, residual, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void add_rmsnorm(const float*, float*, const float*, float*, int, int, float,
                          cudaStream_t);
template void add_rmsnorm(const __nv_bfloat16*, __nv_bfloat16*, const __nv_bfloat16*,
                          __nv_bfloat16*, int, int, float, cudaStream_t);
