#include <cstdint>

#include "gemv.h"
#include "toolkit/check.h"

constexpr int kRowsOfBlock = 4;  // a warp for each

__global__ void row_by_warp(const float* A, const float* x, float* y, int M, int K) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kRowsOfBlock + threadIdx.y;
  if (row >= M) return;
  const float* a = A + row * K;
  float part = 0.0f;
  for (int k = threadIdx.x; k < K; k += 32) part += a[k] * x[k];
  for (int apart = 16; apart >= 1; apart >>= 1) {
    part += __shfl_down_sync(0xffffffffu, part, apart);
  }
  if (threadIdx.x == 0) y[row] = part;
}

void gemv(const float* A, const float* x, float* y, int M, int K) {
  const dim3 block(32, kRowsOfBlock);
  const int blocks = (M - 1) / kRowsOfBlock + 1;
  row_by_warp<<<blocks, block>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
