#include "add_rmsnorm.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

#define THREADS 256

/* Adds x to residual, stores the rounded sum, and returns what was stored. */
template <typename T>
__device__ static float add_and_store(const T* x, T* residual, int i) {
  float sum = rooflab::to_float(x[i]) + rooflab::to_float(residual[i]);
  T stored = rooflab::from_float<T>(sum);
  residual[i] = stored;
  return rooflab::to_float(stored);
}

template <typename T>
__global__ void add_norm_kernel(const T* x, T* residual, const T* weight, T* y, int width,
                                float epsilon) {
  std::int64_t start = (std::int64_t)blockIdx.x * width;
  T* sums = residual + start;
  float squares = 0.0f;
  int i;

  for (i = threadIdx.x; i < width; i += blockDim.x) {
    float s = add_and_store(x + start, sums, i);
    squares += s * s;
  }
  squares = block_sum(squares);

  float scale = rsqrtf(squares / width + epsilon);
  for (i = threadIdx.x; i < width; i += blockDim.x) {
    float s = rooflab::to_float(sums[i]);
    float gain = 1.0f + rooflab::to_float(weight[i]);
    y[start + i] = rooflab::from_float<T>(s * scale * gain);
  }
}

template <typename T>
void add_rmsnorm(const T* x, T* residual, const T* weight, T* y, int rows, int width, float epsilon,
                 cudaStream_t stream) {
  add_norm_kernel<T><<<rows, THREADS, 0, stream>>>(x, residual, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void add_rmsnorm(const float*, float*, const float*, float*, int, int, float,
                          cudaStream_t);
template void add_rmsnorm(const __nv_bfloat16*, __nv_bfloat16*, const __nv_bfloat16*,
                          __nv_bfloat16*, int, int, float, cudaStream_t);
