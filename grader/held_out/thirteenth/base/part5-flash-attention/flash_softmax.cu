#include "flash_softmax.h"

#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kQueries = 32, kKeys = 32, kDim = 64;
constexpr int kLanes = 8;  // neighbours that share a query
constexpr int kThreads = kQueries * kLanes;
constexpr int kKeysEach = kKeys / kLanes, kColumnsEach = kDim / kLanes;

__global__ void one_tile(const float* q, const float* k, const float* v, float* out,
                         float* log_sum_exp, float scale) {
  __shared__ float queries[kQueries][kDim + 1], keys[kKeys][kDim + 1], values[kKeys][kDim];
  const float* my_q = q + blockIdx.x * kQueries * kDim;
  for (int t = threadIdx.x; t < kQueries * kDim; t += kThreads) {
    queries[t / kDim][t % kDim] = my_q[t];
    keys[t / kDim][t % kDim] = k[t];
    values[t / kDim][t % kDim] = v[t];
  }
  __syncthreads();

  const int query = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  float scores[kKeysEach], top = -INFINITY;
  for (int e = 0; e < kKeysEach; ++e) {
    float dot = 0.0f;
    for (int d = 0; d < kDim; ++d) dot += queries[query][d] * keys[lane + e * kLanes][d];
    scores[e] = dot * scale;
    top = fmaxf(top, scores[e]);
  }
  top = warp_max<kLanes>(top);

  float total = 0.0f;
  for (float& score : scores) {
    score = expf(score - top);
    total += score;
  }
  total = warp_sum<kLanes>(total);

  float sums[kColumnsEach] = {};
  for (int e = 0; e < kKeysEach; ++e) {
    for (int from = 0; from < kLanes; ++from) {
      const float weight = __shfl_sync(0xffffffffu, scores[e], from, kLanes);
      for (int c = 0; c < kColumnsEach; ++c) {
        sums[c] += weight * values[from + e * kLanes][lane + c * kLanes];
      }
    }
  }

  const int row = blockIdx.x * kQueries + query;
  for (int c = 0; c < kColumnsEach; ++c) out[row * kDim + lane + c * kLanes] = sums[c] / total;
  if (lane == 0) log_sum_exp[row] = top + logf(total);
}

}  // namespace

void flash_softmax(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   int query_length, float scale) {
  one_tile<<<query_length / kQueries, kThreads>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}
