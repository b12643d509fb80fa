#include "sum.h"

#include <algorithm>

#include "toolkit/check.h"

#define BLOCK 256
#define WARP 32
#define MAX_GRID 1024
#define FULL_MASK 0xffffffffu

// classic "faster parallel reductions on Kepler" warp reduce
__inline__ __device__ float warpReduceSum(float v) {
  for (int off = WARP / 2; off > 0; off >>= 1) v += __shfl_down_sync(FULL_MASK, v, off);
  return v;
}

__inline__ __device__ float blockReduceSum(float v) {
  __shared__ float s[WARP];
  int lane = threadIdx.x % WARP;
  int wid = threadIdx.x / WARP;
  v = warpReduceSum(v);
  if (lane == 0) s[wid] = v;
  __syncthreads();
  v = (threadIdx.x < BLOCK / WARP) ? s[lane] : 0.f;
  if (wid == 0) v = warpReduceSum(v);
  return v;
}

__global__ void reduceKernel(const float* in, float* out, int n) {
  float v = 0.f;
  // grid-stride loop
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * gridDim.x) {
    v += in[i];
  }
  v = blockReduceSum(v);
  if (threadIdx.x == 0) atomicAdd(out, v);
}

void sum(const float* x, float* result, int n) {
  int nblk = std::min((n + BLOCK - 1) / BLOCK, MAX_GRID);
  CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof(float)));
  reduceKernel<<<nblk, BLOCK>>>(x, result, n);
  CUDA_CHECK(cudaGetLastError());
}
