#include "flash_softmax.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kQueries = 32, kKeys = 32, kDim = 64, kWarps = 4;

// Lane j of a warp holds the score with key j; a warp computes eight queries, one after the other.
__global__ void one_tile(const float* q, const float* k, const float* v, float* out, float* lse,
                         float scale) {
  __shared__ float queries[kQueries][kDim];
  __shared__ float keys[kKeys][kDim + 1];
  __shared__ float values[kKeys][kDim];
  const int first = blockIdx.x * kQueries;
  for (int e = threadIdx.x; e < kQueries * kDim; e += kWarps * 32) {
    queries[e / kDim][e % kDim] = q[first * kDim + e];
    keys[e / kDim][e % kDim] = k[e];
    values[e / kDim][e % kDim] = v[e];
  }
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = warp; i < kQueries; i += kWarps) {
    float score = 0.0f;
    for (int d = 0; d < kDim; ++d) score += queries[i][d] * keys[lane][d];
    score *= scale;
    const float top = warp_max(score);
    const float weight = expf(score - top);
    const float total = warp_sum(weight);
    float low = 0.0f, high = 0.0f;
    for (int j = 0; j < kKeys; ++j) {
      const float w = __shfl_sync(0xffffffff, weight, j);
      low += w * values[j][lane];
      high += w * values[j][lane + 32];
    }
    float* row = out + (first + i) * kDim;
    row[lane] = low / total;
    row[lane + 32] = high / total;
    if (lane == 0) lse[first + i] = top + logf(total);
  }
}

}  // namespace

void flash_softmax(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   int query_length, float scale) {
  one_tile<<<query_length / kQueries, kWarps * 32>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}
