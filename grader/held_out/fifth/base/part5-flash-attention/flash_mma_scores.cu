#include "flash_mma_scores.h"

#include "fragments.h"
#include "tiles.cuh"
#include "toolkit/check.h"

namespace {

constexpr int kRows = 32, kDim = 64, kPitch = kDim + 8;

__global__ void scores_of_tile(const __half* q, const __half* k, float* scores, float scale) {
  __shared__ alignas(16) __half query[kRows * kPitch];
  __shared__ alignas(16) __half key[kRows * kPitch];
  // eight halves at a time
  for (int piece = threadIdx.x; piece < kRows * kDim / 8; piece += blockDim.x) {
    const int at = piece / (kDim / 8) * kPitch + piece % (kDim / 8) * 8;
    *reinterpret_cast<uint4*>(query + at) = reinterpret_cast<const uint4*>(q)[piece];
    *reinterpret_cast<uint4*>(key + at) = reinterpret_cast<const uint4*>(k)[piece];
  }
  __syncthreads();

  const int lane = threadIdx.x % 32, strip = threadIdx.x / 32 * 16;
  Sums sums[kRows / 8];
  for (int d = 0; d < kDim; d += 16) {
    FragmentA<__half> a;
    load_a(query + strip * kPitch + d, kPitch, a);
    for (int j = 0; j < kRows; j += 16) {
      FragmentB<__half> b[2];
      load_b_transposed(key + j * kPitch + d, kPitch, b);
      multiply_add(a, b[0], sums[j / 8]);
      multiply_add(a, b[1], sums[j / 8 + 1]);
    }
  }

  const int row = strip + lane / 4, column = lane % 4 * 2;
  for (int part = 0; part < kRows / 8; ++part) {
    for (int e = 0; e < 4; ++e) {
      const int i = row + e / 2 * 8, j = part * 8 + column + e % 2;
      scores[i * kRows + j] = scale * sums[part].value[e];
    }
  }
}

}  // namespace

void flash_mma_scores(const __half* q, const __half* k, float* scores, float scale) {
  scores_of_tile<<<1, kRows / 16 * 32>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
