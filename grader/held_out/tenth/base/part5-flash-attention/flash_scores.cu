#include "flash_scores.h"

#include "toolkit/check.h"

constexpr int kTile = 32;
constexpr int kDim = 64;
constexpr int kThreads = 128;

// four threads share a query; each of them has every fourth key
__global__ void score_tile(const float* q, const float* k, float* scores, float scale) {
  __shared__ float qs[kTile * kDim];
  __shared__ float ks[kTile * (kDim + 1)];
  for (int e = threadIdx.x; e < kTile * kDim; e += kThreads) {
    qs[e] = q[e];
    ks[(e / kDim) * (kDim + 1) + e % kDim] = k[e];
  }
  __syncthreads();
  const int i = threadIdx.x / 4;
  for (int j = threadIdx.x % 4; j < kTile; j += 4) {
    float dot = 0.0f;
    for (int d = 0; d < kDim; ++d) dot += qs[i * kDim + d] * ks[j * (kDim + 1) + d];
    scores[i * kTile + j] = dot * scale;
  }
}

void flash_scores(const float* q, const float* k, float* scores, float scale) {
  score_tile<<<1, kThreads>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
