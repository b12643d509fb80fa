#include "flash_mma_scores.h"

#include "fragments.h"
#include "toolkit/check.h"

namespace {

constexpr int kRows = 32, kDim = 64, kStride = kDim + 8;

// Four warps: each computes 16 queries times 16 keys.
__global__ void quarter_of_warp(const __half* q, const __half* k, float* scores, float scale) {
  __shared__ alignas(16) __half queries[kRows][kStride];
  __shared__ alignas(16) __half keys[kRows][kStride];
  for (int e = threadIdx.x; e < kRows * kDim; e += blockDim.x) {
    queries[e / kDim][e % kDim] = q[e];
    keys[e / kDim][e % kDim] = k[e];
  }
  __syncthreads();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int top = warp / 2 * 16, left = warp % 2 * 16;
  Sums sums[2];
  for (int d = 0; d < kDim; d += 16) {
    FragmentA<__half> a;
    FragmentB<__half> b[2];
    load_a(&queries[top][d], kStride, a);
    load_b_transposed(&keys[left][d], kStride, b);
    for (int half = 0; half < 2; ++half) multiply_add(a, b[half], sums[half]);
  }
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 4; ++i) {
      const int row = top + lane / 4 + i / 2 * 8;
      const int column = left + half * 8 + lane % 4 * 2 + i % 2;
      scores[row * kRows + column] = scale * sums[half].value[i];
    }
  }
}

}  // namespace

void flash_mma_scores(const __half* q, const __half* k, float* scores, float scale) {
  quarter_of_warp<<<1, 128>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
