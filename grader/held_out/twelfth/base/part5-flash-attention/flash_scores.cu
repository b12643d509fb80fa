#include "flash_scores.h"

#include "toolkit/check.h"

namespace {

constexpr int kRows = 32, kDim = 64, kThreads = 128;

__global__ void score_tile(const float* q, const float* k, float* scores, float scale) {
  __shared__ float queries[kRows][kDim];
  __shared__ float keys[kDim][kRows + 1];  // turned, so that neighbours are keys
  for (int e = threadIdx.x; e < kRows * kDim; e += kThreads) {
    queries[e / kDim][e % kDim] = q[e];
    keys[e % kDim][e / kDim] = k[e];
  }
  __syncthreads();
  const int key = threadIdx.x % kRows;
  for (int query = threadIdx.x / kRows; query < kRows; query += kThreads / kRows) {
    float dot = 0.0f;
    for (int d = 0; d < kDim; ++d) dot += queries[query][d] * keys[d][key];
    scores[query * kRows + key] = dot * scale;
  }
}

}  // namespace

void flash_scores(const float* q, const float* k, float* scores, float scale) {
  score_tile<<<1, kThreads>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
