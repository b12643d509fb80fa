#include <cstdint>

#include "gemv.h"
#include "toolkit/check.h"

namespace {

constexpr int kRowsOfBlock = 4;

__global__ void warp_for_a_row(const float* A, const float* x, float* y, int M, int K) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kRowsOfBlock + threadIdx.y;
  if (row >= M) return;
  const float* a = A + row * K;
  float even = 0.0f, odd = 0.0f;  // two sums, so that two loads are under way
  int k = threadIdx.x;
  for (; k + 32 < K; k += 64) {
    even += a[k] * x[k];
    odd += a[k + 32] * x[k + 32];
  }
  if (k < K) even += a[k] * x[k];
  float sum = even + odd;
  for (int mask = 1; mask < 32; mask *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  if (threadIdx.x == 0) y[row] = sum;
}

}  // namespace

void gemv(const float* A, const float* x, float* y, int M, int K) {
  const dim3 block(32, kRowsOfBlock);
  warp_for_a_row<<<(M - 1) / kRowsOfBlock + 1, block>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
