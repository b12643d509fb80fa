#include "gemv.h"

#include <cstdint>

#include "toolkit/check.h"

static constexpr int kWarpsPerBlock = 6;

__global__ void row_of_a_warp(const float* __restrict__ A, const float* __restrict__ x, float* y,
                              int M, int K) {
  const int lane = threadIdx.x & 31;
  const int64_t r = int64_t{blockIdx.x} * kWarpsPerBlock + (threadIdx.x >> 5);
  if (r >= M) return;

  const float* a = A + r * K;
  float even = 0, odd = 0;
  int k = lane;
  while (k + 32 < K) {
    even += a[k] * x[k];
    odd += a[k + 32] * x[k + 32];
    k += 64;
  }
  if (k < K) even += a[k] * x[k];

  float s = even + odd;
  for (int bit = 1; bit < 32; bit <<= 1) s += __shfl_xor_sync(0xffffffffu, s, bit);
  if (lane == 0) y[r] = s;
}

void gemv(const float* A, const float* x, float* y, int M, int K) {
  const int blocks = (M - 1) / kWarpsPerBlock + 1;
  row_of_a_warp<<<blocks, kWarpsPerBlock * 32>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
