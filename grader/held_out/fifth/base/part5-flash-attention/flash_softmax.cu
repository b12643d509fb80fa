#include "flash_softmax.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kKeys = 32, kDim = 64, kQueries = 32, kWarps = 8;

// A lane for each key, then two elements of the result for each lane.
__global__ void rows_by_warps(const float* q, const float* k, const float* v, float* out,
                              float* log_sum_exp, float scale) {
  __shared__ float key[kKeys][kDim + 1];
  __shared__ float value[kKeys][kDim];
  __shared__ float query[kQueries][kDim];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int i0 = blockIdx.x * kQueries;

  for (int e = threadIdx.x; e < kKeys * kDim; e += kWarps * 32) {
    const int r = e / kDim, d = e % kDim;
    key[r][d] = k[e];
    value[r][d] = v[e];
    query[r][d] = q[i0 * kDim + e];
  }
  __syncthreads();

  for (int r = warp; r < kQueries; r += kWarps) {
    float dot = 0.0f;
    for (int d = 0; d < kDim; ++d) dot += query[r][d] * key[lane][d];
    const float score = scale * dot;
    const float largest = warp_max(score);
    const float weight = expf(score - largest);
    const float total = warp_sum(weight);

    float low = 0.0f, high = 0.0f;
    for (int j = 0; j < kKeys; ++j) {
      const float w = __shfl_sync(0xffffffff, weight, j);
      low += w * value[j][lane];
      high += w * value[j][lane + 32];
    }
    float* row = out + (i0 + r) * kDim;
    row[lane] = low / total;
    row[lane + 32] = high / total;
    if (lane == 0) log_sum_exp[i0 + r] = largest + logf(total);
  }
}

}  // namespace

void flash_softmax(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   int query_length, float scale) {
  rows_by_warps<<<query_length / kQueries, kWarps * 32>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}
