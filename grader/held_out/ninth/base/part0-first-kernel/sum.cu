#include "sum.h"

#include <algorithm>

#include "toolkit/check.h"

// Every thread strides over the grid; warps fold with shuffles, the first warp folds the warps,
// and one thread per block adds to the result.
template <int THREADS>
__global__ void accumulate(const float* __restrict__ data, float* total, int count) {
  __shared__ float per_warp[THREADS / 32];
  float mine = 0.0f;
  for (int at = blockIdx.x * THREADS + threadIdx.x; at < count; at += gridDim.x * THREADS) {
    mine += data[at];
  }
  for (int off = 16; off >= 1; off >>= 1) mine += __shfl_down_sync(~0u, mine, off);
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (lane == 0) per_warp[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    float w = lane < THREADS / 32 ? per_warp[lane] : 0.0f;
    for (int off = 16; off >= 1; off >>= 1) w += __shfl_down_sync(~0u, w, off);
    if (lane == 0) atomicAdd(total, w);
  }
}

void sum(const float* x, float* result, int n) {
  constexpr int T = 256;
  int blocks = std::min(n / T + 1, 64);
  CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof(float)));
  accumulate<T><<<blocks, T>>>(x, result, n);
  CUDA_CHECK(cudaGetLastError());
}
