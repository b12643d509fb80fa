#include "gemv.h"

#include "toolkit/check.h"

#define LANES 32
#define WARPS 4
#define FULL_MASK 0xffffffffu

/* Sum over the warp; lane 0 has it. */
__device__ static float sum_of_lanes(float v) {
  int hop;
  for (hop = 16; hop > 0; hop >>= 1) {
    v += __shfl_down_sync(FULL_MASK, v, hop);
  }
  return v;
}

__global__ void gemv_kernel(const float* A, const float* x, float* y, int M, int K) {
  int lane = threadIdx.x % LANES;
  int warp = threadIdx.x / LANES;
  long long row = (long long)blockIdx.x * WARPS + warp;
  if (row >= M) return;

  const float* line = A + row * K;
  float part = 0.0f;
  int k;
  for (k = lane; k < K; k += LANES) {
    part += line[k] * x[k];
  }
  part = sum_of_lanes(part);
  if (lane == 0) y[row] = part;
}

void gemv(const float* A, const float* x, float* y, int M, int K) {
  int blocks = (int)(((long long)M + WARPS - 1) / WARPS);
  gemv_kernel<<<blocks, WARPS * LANES>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
