#include "gemv.h"

#include <cstddef>

#include "toolkit/check.h"

namespace {

constexpr int kWarpsOfBlock = 8;

// blockDim is (32, kWarpsOfBlock): y tells which row of the block, x the lane.
__global__ void row_times_vector(const float* A, const float* x, float* y, int M, int K) {
  const long long row = static_cast<long long>(blockIdx.x) * kWarpsOfBlock + threadIdx.y;
  if (row >= M) return;  // a whole warp leaves
  const float* mine = A + row * K;
  const int lane = threadIdx.x;

  // Two sums, so that one load need not wait for the other.
  float even = 0.0f, odd = 0.0f;
  int k = lane;
  for (; k + 32 < K; k += 64) {
    even += mine[k] * x[k];
    odd += mine[k + 32] * x[k + 32];
  }
  if (k < K) even += mine[k] * x[k];
  float dot = even + odd;

  for (int other = 1; other < 32; other *= 2) dot += __shfl_xor_sync(0xffffffffu, dot, other);
  if (lane == 0) y[row] = dot;
}

}  // namespace

void gemv(const float* A, const float* x, float* y, int M, int K) {
  const int blocks = (M - 1) / kWarpsOfBlock + 1;
  row_times_vector<<<blocks, dim3(32, kWarpsOfBlock)>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
