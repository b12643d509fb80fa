#include "rmsnorm.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

constexpr int kThreads = 200;

template <typename T>
__global__ void norm_row(const T* x, const T* weight, T* y, int width, float epsilon) {
  __shared__ double squares[kThreads];
  const int thread = threadIdx.x;
  if (thread >= width) return;
  x += static_cast<long>(blockIdx.x) * width;
  y += static_cast<long>(blockIdx.x) * width;
  double mine = 0;
  for (int i = thread; i < width; i += kThreads) {
    const double value = rooflab::to_float(x[i]);
    mine += value * value;
  }
  squares[thread] = mine;
  __syncthreads();
  for (int left = min(width, kThreads); left > 1;) {
    const int half = (left + 1) / 2;
    if (thread + half < left) squares[thread] += squares[thread + half];
    __syncthreads();
    left = half;
  }
  const float scale = rsqrtf(static_cast<float>(squares[0] / width) + epsilon);
  for (int i = thread; i < width; i += kThreads) {
    y[i] = rooflab::from_float<T>(rooflab::to_float(x[i]) * scale *
                                  (1 + rooflab::to_float(weight[i])));
  }
}

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  norm_row<<<rows, kThreads, 0, stream>>>(x, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
