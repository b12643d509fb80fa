#include "gemv.h"

#include <cstdint>

#include "toolkit/check.h"

// A block is (32, WARPS): y counts the warps, and each of them has a row.
constexpr int WARPS = 4;

__global__ void gemv_rows(const float* A, const float* x, float* y, int M, int K) {
  const std::int64_t row = std::int64_t(blockIdx.x) * WARPS + threadIdx.y;
  if (row >= M) return;
  const float* a = A + row * K;
  float dot = 0.0f;
  for (int k = threadIdx.x; k < K; k += 32) dot = fmaf(a[k], x[k], dot);
  dot += __shfl_xor_sync(0xffffffffu, dot, 16);
  dot += __shfl_xor_sync(0xffffffffu, dot, 8);
  dot += __shfl_xor_sync(0xffffffffu, dot, 4);
  dot += __shfl_xor_sync(0xffffffffu, dot, 2);
  dot += __shfl_xor_sync(0xffffffffu, dot, 1);
  if (threadIdx.x == 0) y[row] = dot;
}

void gemv(const float* A, const float* x, float* y, int M, int K) {
  const unsigned blocks = (unsigned(M) + WARPS - 1) / WARPS;
  gemv_rows<<<blocks, dim3(32, WARPS)>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
