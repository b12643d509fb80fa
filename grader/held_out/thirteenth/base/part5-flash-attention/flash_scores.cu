#include "flash_scores.h"

#include "toolkit/check.h"

namespace {

constexpr int kRows = 32;  // of q and of k
constexpr int kDim = 64;
constexpr int kThreads = 256;
constexpr int kEach = kRows * kRows / kThreads;  // scores of a thread, one below the other

__global__ void tile_of_scores(const float* q, const float* k, float* scores, float scale) {
  __shared__ float queries[kRows * kDim];
  __shared__ float keys[kRows * (kDim + 1)];
  for (int t = threadIdx.x; t < kRows * kDim; t += kThreads) {
    queries[t] = q[t];
    keys[t + t / kDim] = k[t];
  }
  __syncthreads();

  const int j = threadIdx.x % kRows;
  const int first = threadIdx.x / kRows * kEach;
  const float* key = keys + j * (kDim + 1);
  for (int i = first; i < first + kEach; ++i) {
    float dot = 0.0f;
    for (int d = 0; d < kDim; ++d) dot += queries[i * kDim + d] * key[d];
    scores[i * kRows + j] = dot * scale;
  }
}

}  // namespace

void flash_scores(const float* q, const float* k, float* scores, float scale) {
  tile_of_scores<<<1, kThreads>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
