#include "flash_scores.h"

#include "toolkit/check.h"

namespace {

constexpr int kSide = 32;  // queries, and keys
constexpr int kDim = 64;
constexpr int kCrew = 128;

// Keys are stored transposed, so that neighbouring threads find neighbouring keys.
__global__ void tile_scores(const float* q, const float* k, float* scores, float scale) {
  __shared__ float queries[kSide * kDim];
  __shared__ float keys[kDim * (kSide + 1)];
  for (int e = threadIdx.x; e < kSide * kDim; e += kCrew) {
    queries[e] = q[e];
    const int key = e / kDim;
    const int d = e % kDim;
    keys[d * (kSide + 1) + key] = k[e];
  }
  __syncthreads();

  for (int s = threadIdx.x; s < kSide * kSide; s += kCrew) {
    const int i = s / kSide;
    const int j = s % kSide;
    float dot = 0.0f;
    for (int d = 0; d < kDim; ++d) dot += queries[i * kDim + d] * keys[d * (kSide + 1) + j];
    scores[s] = scale * dot;
  }
}

}  // namespace

void flash_scores(const float* q, const float* k, float* scores, float scale) {
  tile_scores<<<1, kCrew>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
