#include "flash_scores.h"

#include "toolkit/check.h"

__global__ void scores_of_tile(const float4* q, const float4* k, float* scores, float scale) {
  __shared__ float4 sq[32 * 16], sk[32 * 17];
  for (int i = threadIdx.x; i < 32 * 16; i += 64) {
    sq[i] = q[i];
    sk[i / 16 * 17 + i % 16] = k[i];
  }
  __syncthreads();
  const int r0 = threadIdx.x / 8, c0 = threadIdx.x % 8;
  float patch[4][4] = {};
  for (int d = 0; d < 16; ++d) {
    for (int r = 0; r < 4; ++r) {
      const float4 a = sq[(r0 + 8 * r) * 16 + d];
      for (int c = 0; c < 4; ++c) {
        const float4 b = sk[(c0 + 8 * c) * 17 + d];
        patch[r][c] += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
      }
    }
  }
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 4; ++c) scores[(r0 + 8 * r) * 32 + c0 + 8 * c] = scale * patch[r][c];
  }
}

void flash_scores(const float* q, const float* k, float* scores, float scale) {
  scores_of_tile<<<1, 64>>>(reinterpret_cast<const float4*>(q), reinterpret_cast<const float4*>(k),
                            scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
