#include "flash_mma_scores.h"

#include "fragments.h"
#include "toolkit/check.h"

namespace {

constexpr int kRows = 32, kDim = 64;
constexpr int kStride = kDim + 8;
constexpr int kThreads = 128;  // four warps: 16 queries and 16 keys each

__global__ void quarter_of_scores(const __half* q, const __half* k, float* scores, float scale) {
  __shared__ __align__(16) __half queries[kRows * kStride];
  __shared__ __align__(16) __half keys[kRows * kStride];
  for (int t = threadIdx.x; t < kRows * kDim; t += kThreads) {
    const int at = t / kDim * kStride + t % kDim;
    queries[at] = q[t];
    keys[at] = k[t];
  }
  __syncthreads();

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int query0 = warp / 2 * 16, key0 = warp % 2 * 16;
  Sums left, right;  // eight keys each
  for (int d = 0; d < kDim; d += 16) {
    FragmentA<__half> a;
    FragmentB<__half> b[2];
    load_a(queries + query0 * kStride + d, kStride, a);
    load_b_transposed(keys + key0 * kStride + d, kStride, b);
    multiply_add(a, b[0], left);
    multiply_add(a, b[1], right);
  }

  const int row = query0 + lane / 4, column = key0 + lane % 4 * 2;
  for (int n = 0; n < 4; ++n) {
    float* to = scores + (row + n / 2 * 8) * kRows + column + n % 2;
    to[0] = left.value[n] * scale;
    to[8] = right.value[n] * scale;
  }
}

}  // namespace

void flash_mma_scores(const __half* q, const __half* k, float* scores, float scale) {
  quarter_of_scores<<<1, kThreads>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
