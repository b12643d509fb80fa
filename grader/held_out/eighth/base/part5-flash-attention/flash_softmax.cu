#include "flash_softmax.h"

#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kKeys = 32;
constexpr int kDim = 64;
constexpr int kQueries = 32;  // of a block
constexpr int kWarps = 4;

// Lane j of a warp has key j. A warp takes one query after the other.
__global__ void soft_tile(const float* q, const float* k, const float* v, float* out,
                          float* log_sum_exp, float scale) {
  __shared__ float keys[kKeys][kDim + 1];
  __shared__ float values[kKeys][kDim];
  __shared__ float query[kWarps][kDim];
  const int lane = threadIdx.x;
  const int warp = threadIdx.y;
  for (int e = warp * 32 + lane; e < kKeys * kDim; e += 32 * kWarps) {
    keys[e / kDim][e % kDim] = k[e];
    values[e / kDim][e % kDim] = v[e];
  }
  __syncthreads();

  for (int r = warp; r < kQueries; r += kWarps) {
    const int i = blockIdx.x * kQueries + r;
    query[warp][lane] = q[i * kDim + lane];
    query[warp][lane + 32] = q[i * kDim + lane + 32];
    __syncwarp();

    float score = 0.0f;
    for (int d = 0; d < kDim; ++d) score += query[warp][d] * keys[lane][d];
    score *= scale;
    const float top = warp_max(score);
    const float weight = expf(score - top);
    const float sum = warp_sum(weight);

    float low = 0.0f;
    float high = 0.0f;
    for (int j = 0; j < kKeys; ++j) {
      const float w = __shfl_sync(0xffffffff, weight, j);
      low += w * values[j][lane];
      high += w * values[j][lane + 32];
    }
    out[i * kDim + lane] = low / sum;
    out[i * kDim + lane + 32] = high / sum;
    if (lane == 0) log_sum_exp[i] = top + logf(sum);
    __syncwarp();
  }
}

}  // namespace

void flash_softmax(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   int query_length, float scale) {
  soft_tile<<<query_length / kQueries, dim3(32, kWarps)>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}
