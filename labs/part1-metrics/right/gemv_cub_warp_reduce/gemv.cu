#include <cub/cub.cuh>

#include "gemv.h"
#include "toolkit/check.h"

constexpr int kWarps = 8;

__global__ void gemv_kernel(const float* A, const float* x, float* y, int M, int K) {
  using WarpReduce = cub::WarpReduce<float>;
  __shared__ typename WarpReduce::TempStorage storage[kWarps];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.x * kWarps + warp;
  if (row >= M) return;
  float mine = 0;
  for (int k = lane; k < K; k += 32) mine += A[size_t(row) * K + k] * x[k];
  const float sum = WarpReduce(storage[warp]).Sum(mine, min(K, 32));
  if (lane == 0) y[row] = sum;
}

void gemv(const float* A, const float* x, float* y, int M, int K) {
  gemv_kernel<<<(M + kWarps - 1) / kWarps, 32 * kWarps>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
