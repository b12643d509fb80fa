#include "flash_mma_scores.h"

#include "fragments.h"
#include "toolkit/check.h"

namespace {

constexpr int kRows = 32;
constexpr int kDims = 64;
constexpr int kPitch = kDims + 8;  // rows begin at multiples of 16 bytes
constexpr int kWarps = 2;

__global__ void multiply_tiles(const __half* q, const __half* k, float* scores, float scale) {
  __shared__ __align__(16) __half queries[kRows][kPitch];
  __shared__ __align__(16) __half keys[kRows][kPitch];
  for (int e = threadIdx.x; e < kRows * kDims; e += kWarps * 32) {
    queries[e / kDims][e % kDims] = q[e];
    keys[e / kDims][e % kDims] = k[e];
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  const int first = threadIdx.x / 32 * 16;  // query of this warp
  Sums sums[kRows / 8];
  for (int d = 0; d < kDims; d += 16) {
    FragmentA<__half> a;
    load_a(&queries[first][d], kPitch, a);
    for (int half = 0; half < 2; ++half) {
      FragmentB<__half> b[2];
      load_b_transposed(&keys[16 * half][d], kPitch, b);
      multiply_add(a, b[0], sums[2 * half]);
      multiply_add(a, b[1], sums[2 * half + 1]);
    }
  }
  const int row = first + lane / 4;
  for (int block = 0; block < kRows / 8; ++block) {
    const int column = 8 * block + lane % 4 * 2;
    for (int e = 0; e < 4; ++e) {
      const int down = e / 2 * 8;
      scores[(row + down) * kRows + column + e % 2] = scale * sums[block].value[e];
    }
  }
}

}  // namespace

void flash_mma_scores(const __half* q, const __half* k, float* scores, float scale) {
  multiply_tiles<<<1, kWarps * 32>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
