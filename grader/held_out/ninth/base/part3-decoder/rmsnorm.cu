#include "rmsnorm.h"

#include <algorithm>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

using rooflab::from_float;
using rooflab::to_float;

namespace {

constexpr int kRmsThreads = 128;

template <typename T>
__global__ void rms_rows(const T* x, const T* weight, T* y, int width, float epsilon) {
  __shared__ float warps[kRmsThreads / kWarpSize];
  const size_t base = size_t(blockIdx.x) * width;
  float ss = 0.0f;
  for (int i = threadIdx.x; i < width; i += kRmsThreads) {
    const float v = to_float(x[base + i]);
    ss += v * v;
  }
  ss = warp_sum(ss);
  if (threadIdx.x % kWarpSize == 0) warps[threadIdx.x / kWarpSize] = ss;
  __syncthreads();
  float total = 0.0f;
  for (int w = 0; w < kRmsThreads / kWarpSize; ++w) total += warps[w];
  const float inv = rsqrtf(total / width + epsilon);
  for (int i = threadIdx.x; i < width; i += kRmsThreads) {
    y[base + i] = from_float<T>(to_float(x[base + i]) * inv * (1.0f + to_float(weight[i])));
  }
}

}  // namespace

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  rms_rows<T><<<rows, kRmsThreads, 0, stream>>>(x, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
