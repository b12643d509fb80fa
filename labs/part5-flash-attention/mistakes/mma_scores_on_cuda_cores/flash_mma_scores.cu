#include "flash_mma_scores.h"

#include "toolkit/check.h"

__global__ void scores_kernel(const __half* q, const __half* k, float* scores, float scale) {
  float sum = 0.0f;
  for (int d = 0; d < 64; ++d) {
    sum += __half2float(q[threadIdx.y * 64 + d]) * __half2float(k[threadIdx.x * 64 + d]);
  }
  scores[threadIdx.y * 32 + threadIdx.x] = scale * sum;
}

void flash_mma_scores(const __half* q, const __half* k, float* scores, float scale) {
  scores_kernel<<<1, dim3(32, 32)>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
