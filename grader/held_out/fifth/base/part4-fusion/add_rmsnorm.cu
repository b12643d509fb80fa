#include "add_rmsnorm.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kThreads = 160;

// What every warp found, added up for all threads.
__device__ float over_block(float v) {
  __shared__ float box[kThreads / kWarpSize + 1];
  v = warp_sum(v);
  if (threadIdx.x % kWarpSize == 0) box[threadIdx.x / kWarpSize] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float s = 0;
    for (int w = 0; w < kThreads / kWarpSize; ++w) s += box[w];
    box[kThreads / kWarpSize] = s;
  }
  __syncthreads();
  return box[kThreads / kWarpSize];
}

template <typename T>
__global__ void add_then_norm(const T* x, T* residual, const T* weight, T* y, int width,
                              float epsilon) {
  const size_t begin = static_cast<size_t>(blockIdx.x) * width;
  x += begin, residual += begin, y += begin;

  float squares = 0.0f;
  for (int i = threadIdx.x; i < width; i += kThreads) {
    const T stored = rooflab::from_float<T>(rooflab::to_float(residual[i]) + rooflab::to_float(x[i]));
    residual[i] = stored;
    const float back = rooflab::to_float(stored);
    squares = fmaf(back, back, squares);
  }
  const float factor = 1.0f / sqrtf(over_block(squares) / width + epsilon);
  // Each thread meets again the elements that it has stored.
  for (int i = threadIdx.x; i < width; i += kThreads) {
    const float scaled = rooflab::to_float(residual[i]) * factor;
    y[i] = rooflab::from_float<T>(scaled + scaled * rooflab::to_float(weight[i]));
  }
}

}  // namespace

template <typename T>
void add_rmsnorm(const T* x, T* residual, const T* weight, T* y, int rows, int width, float epsilon,
                 cudaStream_t stream) {
  add_then_norm<<<rows, kThreads, 0, stream>>>(x, residual, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void add_rmsnorm(const float*, float*, const float*, float*, int, int, float,
                          cudaStream_t);
template void add_rmsnorm(const __nv_bfloat16*, __nv_bfloat16*, const __nv_bfloat16*,
                          __nv_bfloat16*, int, int, float, cudaStream_t);
