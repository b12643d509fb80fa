#include "gemv.h"

#include <cstdint>

#include "toolkit/check.h"

namespace {

constexpr int kWarpsOfBlock = 6;

__global__ void dot_rows(const float* A, const float* x, float* y, int M, int K) {
  // threadIdx.x is the lane, threadIdx.y the warp.
  const int row = blockIdx.x * kWarpsOfBlock + threadIdx.y;
  if (row >= M) return;
  const float* mine = A + static_cast<std::int64_t>(row) * K;
  float even = 0.0f, odd = 0.0f;
  int k = threadIdx.x;
  for (; k + 32 < K; k += 64) {
    even += mine[k] * x[k];
    odd += mine[k + 32] * x[k + 32];
  }
  if (k < K) even += mine[k] * x[k];
  float dot = even + odd;
  for (int hop = 16; hop >= 1; hop >>= 1) dot += __shfl_down_sync(0xffffffffu, dot, hop);
  if (threadIdx.x == 0) y[row] = dot;
}

}  // namespace

void gemv(const float* A, const float* x, float* y, int M, int K) {
  const int blocks = (M - 1) / kWarpsOfBlock + 1;
  dot_rows<<<blocks, dim3(32, kWarpsOfBlock)>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
