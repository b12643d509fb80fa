#include "flash_softmax.h"

#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kKeys = 32, kDim = 64, kQueries = 32, kWarps = 4;

// A lane for each key while scores are computed, and for two dimensions afterwards.
__global__ void one_tile(const float* q, const float* k, const float* v, float* out,
                         float* log_sum_exp, float scale) {
  __shared__ float keys[kKeys][kDim + 1];
  __shared__ float values[kKeys][kDim];
  const int lane = threadIdx.x, warp = threadIdx.y;
  for (int e = warp * 32 + lane; e < kKeys * kDim; e += 32 * kWarps) {
    keys[e / kDim][e % kDim] = k[e];
    values[e / kDim][e % kDim] = v[e];
  }
  __syncthreads();
  for (int i = warp; i < kQueries; i += kWarps) {
    const int query = blockIdx.x * kQueries + i;
    float score = 0.0f;
    for (int d = 0; d < kDim; ++d) score += q[query * kDim + d] * keys[lane][d];
    score *= scale;
    const float largest = warp_max(score);
    const float weight = expf(score - largest);
    const float total = warp_sum(weight);
    float low = 0.0f, high = 0.0f;
    for (int j = 0; j < kKeys; ++j) {
      const float of_key = __shfl_sync(0xffffffffu, weight, j);
      low += of_key * values[j][lane];
      high += of_key * values[j][lane + 32];
    }
    out[query * kDim + lane] = low / total;
    out[query * kDim + lane + 32] = high / total;
    if (lane == 0) log_sum_exp[query] = largest + logf(total);
  }
}

}  // namespace

void flash_softmax(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   int query_length, float scale) {
  one_tile<<<query_length / kQueries, dim3(32, kWarps)>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}
