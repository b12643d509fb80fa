#include "sum.h"

#include <algorithm>

#include "toolkit/check.h"

namespace {

constexpr int kLanes = 32, kWarps = 4, kBlock = kLanes * kWarps;

// After it, lane 0 has the sum of all lanes.
template <int distance = kLanes / 2>
__device__ float fold(float v) {
  v += __shfl_down_sync(~0u, v, distance);
  if constexpr (distance > 1) v = fold<distance / 2>(v);
  return v;
}

__global__ void add_up(const float* x, float* result, int n) {
  __shared__ float of_warp[kWarps];
  const int lane = threadIdx.x & (kLanes - 1), warp = threadIdx.x / kLanes;

  float mine = 0;
  const int step = gridDim.x * kBlock;
  for (long long i = blockIdx.x * kBlock + threadIdx.x; i < n; i += step) mine += x[i];

  mine = fold(mine);
  if (lane == 0) of_warp[warp] = mine;
  __syncthreads();

  if (threadIdx.x == 0) {
    float all = 0;
    for (int w = 0; w < kWarps; ++w) all += of_warp[w];
    atomicAdd(result, all);
  }
}

}  // namespace

void sum(const float* x, float* result, int n) {
  CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof *result));
  const int blocks = std::min((n + kBlock - 1) / kBlock, 256);
  add_up<<<blocks, kBlock>>>(x, result, n);
  CUDA_CHECK(cudaGetLastError());
}
