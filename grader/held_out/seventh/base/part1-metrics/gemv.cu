#include "gemv.h"

#include "toolkit/check.h"

#define WARP 32
#define NWARPS 4
#define FULL_MASK 0xffffffffu

// one warp per row
__global__ void gemvWarp(const float* A, const float* x, float* y, int M, int K) {
  const int lane = threadIdx.x & (WARP - 1);
  const int wid = threadIdx.x / WARP;
  const int row = blockIdx.x * NWARPS + wid;
  if (row >= M) return;  // whole warp leaves

  const float* a = A + (size_t)row * K;
  float dot = 0.f;
  for (int k = lane; k < K; k += WARP) {
    dot += a[k] * x[k];
  }
  for (int mask = WARP / 2; mask > 0; mask >>= 1) {
    dot += __shfl_xor_sync(FULL_MASK, dot, mask);
  }
  if (lane == 0) y[row] = dot;
}

void gemv(const float* A, const float* x, float* y, int M, int K) {
  const int nblk = (M + NWARPS - 1) / NWARPS;
  gemvWarp<<<nblk, NWARPS * WARP>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
