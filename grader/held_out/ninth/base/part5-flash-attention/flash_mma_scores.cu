#include "flash_mma_scores.h"

#include "fragments.h"
#include "toolkit/check.h"

constexpr int kTokens = 32, kWidth = 64, kPitch = kWidth + 8;

// Two warps. Warp w takes queries 16 w ... 16 w + 15 and all 32 keys: four sums of 16 x 8.
__global__ void mma_scores(const __half* q, const __half* k, float* scores, float scale) {
  __shared__ __align__(16) __half qs[kTokens * kPitch];
  __shared__ __align__(16) __half ks[kTokens * kPitch];
  for (int e = threadIdx.x; e < kTokens * kWidth; e += blockDim.x) {
    const int at = e / kWidth * kPitch + e % kWidth;
    qs[at] = q[e];
    ks[at] = k[e];
  }
  __syncthreads();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  Sums sums[4];
  for (int d = 0; d < kWidth; d += 16) {
    FragmentA<__half> a;
    load_a(qs + warp * 16 * kPitch + d, kPitch, a);
    for (int half = 0; half < 2; ++half) {
      FragmentB<__half> b[2];
      load_b_transposed(ks + half * 16 * kPitch + d, kPitch, b);
      multiply_add(a, b[0], sums[2 * half]);
      multiply_add(a, b[1], sums[2 * half + 1]);
    }
  }
  const int row = warp * 16 + lane / 4, column = lane % 4 * 2;
  for (int n = 0; n < 4; ++n) {
    for (int e = 0; e < 4; ++e) {
      const int r = row + e / 2 * 8, c = n * 8 + column + e % 2;
      scores[r * kTokens + c] = scale * sums[n].value[e];
    }
  }
}

void flash_mma_scores(const __half* q, const __half* k, float* scores, float scale) {
  mma_scores<<<1, 64>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
