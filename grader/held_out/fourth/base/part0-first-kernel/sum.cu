#include "sum.h"

#include <algorithm>

#include "toolkit/check.h"

namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kMostBlocks = 64;

// The sum over a warp; lane 0 has it.
__device__ float add_lanes(float mine) {
  for (int hop = 16; hop >= 1; hop >>= 1) mine += __shfl_down_sync(~0u, mine, hop);
  return mine;
}

// partials[b] = what block b found in its share of x. Launched once more with a single block, the
// same kernel adds up the partials.
__global__ void add_share(const float* x, float* partials, int n) {
  __shared__ float of_warp[kWarps];
  float mine = 0.0f;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) mine += x[i];

  mine = add_lanes(mine);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0.0f;
    for (int w = 0; w < kWarps; ++w) all += of_warp[w];
    partials[blockIdx.x] = all;
  }
}

}  // namespace

void sum(const float* x, float* result, int n) {
  const int blocks = std::min((n + kThreads - 1) / kThreads, kMostBlocks);
  float* partials = nullptr;
  CUDA_CHECK(cudaMalloc(&partials, blocks * sizeof(float)));
  add_share<<<blocks, kThreads>>>(x, partials, n);
  CUDA_CHECK(cudaGetLastError());
  add_share<<<1, kThreads>>>(partials, result, blocks);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaFree(partials));
}
