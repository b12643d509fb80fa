#include "sum.h"

#include <algorithm>

#include "toolkit/check.h"

namespace {

constexpr int kWarps = 6;

__device__ float over_lanes(float mine) {
  for (int apart = 16; apart > 0; apart >>= 1) mine += __shfl_down_sync(~0u, mine, apart);
  return mine;  // right in lane 0
}

__global__ void add_up(const float* x, float* result, int n) {
  __shared__ float of_warp[kWarps];
  const int lane = threadIdx.x & 31;
  float mine = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    mine += x[i];
  }
  mine = over_lanes(mine);
  if (lane == 0) of_warp[threadIdx.x >> 5] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    const float all = over_lanes(lane < kWarps ? of_warp[lane] : 0.0f);
    if (lane == 0) atomicAdd(result, all);
  }
}

}  // namespace

void sum(const float* x, float* result, int n) {
  constexpr int kThreads = 32 * kWarps;
  CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof(float)));
  add_up<<<std::min((n - 1) / kThreads + 1, 40), kThreads>>>(x, result, n);
  CUDA_CHECK(cudaGetLastError());
}
