#include "gemv.h"
#include "toolkit/check.h"

constexpr unsigned kAll = 0xffffffff;

__device__ float sum_of_warp(float value) {
#pragma unroll
  for (int mask = 1; mask < 32; mask <<= 1) value += __shfl_xor_sync(kAll, value, mask);
  return value;
}

// Blocks of 192 threads, six warps; the rows of the last block may be fewer.
__global__ void rows(const float* __restrict__ A, const float* __restrict__ x,
                     float* __restrict__ y, int M, int K) {
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int row = static_cast<int>(thread >> 5);
  if (row >= M) return;
  const int lane = static_cast<int>(thread & 31);
  const float* a = A + static_cast<long long>(row) * K;
  if (K == 1) {
    if (lane == 0) y[row] = a[0] * x[0];
    return;
  }
  float sums[4] = {};
  int k = lane;
  for (; k + 96 < K; k += 128) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[i] = fmaf(a[k + 32 * i], x[k + 32 * i], sums[i]);
  }
  for (; k < K; k += 32) sums[0] = fmaf(a[k], x[k], sums[0]);
  const float sum = sum_of_warp((sums[0] + sums[1]) + (sums[2] + sums[3]));
  if (lane) return;
  __stcs(y + row, sum);
}

void gemv(const float* A, const float* x, float* y, int M, int K) {
  constexpr int kThreads = 192;
  const long long threads = 32LL * M;
  rows<<<static_cast<unsigned>((threads + kThreads - 1) / kThreads), kThreads>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
