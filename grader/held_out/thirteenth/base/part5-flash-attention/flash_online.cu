#include "flash_online.h"

#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kQueries = 16, kKeys = 32, kDim = 64;
constexpr int kLanes = 8;
constexpr int kThreads = kQueries * kLanes;
constexpr int kKeysEach = kKeys / kLanes, kColumnsEach = kDim / kLanes;

struct Row {
  float top = -INFINITY;
  float total = 0.0f;  // of this lane's keys alone
  float sums[kColumnsEach] = {};
};

__global__ void walk(const float* q, const float* k, const float* v, float* out,
                     float* log_sum_exp, int key_length, float scale) {
  __shared__ float queries[kQueries][kDim + 1], keys[kKeys][kDim + 1], values[kKeys][kDim];
  const int query = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  const int begin = blockIdx.x * kQueries;
  for (int t = threadIdx.x; t < kQueries * kDim; t += kThreads) {
    queries[t / kDim][t % kDim] = q[begin * kDim + t] * scale;
  }

  Row row;
  for (int tile = 0; tile < key_length; tile += kKeys) {
    __syncthreads();
    for (int t = threadIdx.x; t < kKeys * kDim; t += kThreads) {
      keys[t / kDim][t % kDim] = k[tile * kDim + t];
      values[t / kDim][t % kDim] = v[tile * kDim + t];
    }
    __syncthreads();

    float weights[kKeysEach], top = row.top;
    for (int e = 0; e < kKeysEach; ++e) {
      float score = 0.0f;
      for (int d = 0; d < kDim; ++d) score += queries[query][d] * keys[lane + e * kLanes][d];
      weights[e] = score;
      top = fmaxf(top, score);
    }
    top = warp_max<kLanes>(top);
    const float shrink = expf(row.top - top);
    row.top = top;
    row.total *= shrink;
    for (float& sum : row.sums) sum *= shrink;

    for (int e = 0; e < kKeysEach; ++e) {
      weights[e] = expf(weights[e] - top);
      row.total += weights[e];
      for (int from = 0; from < kLanes; ++from) {
        const float weight = __shfl_sync(0xffffffffu, weights[e], from, kLanes);
        const float* value = values[from + e * kLanes];
        for (int c = 0; c < kColumnsEach; ++c) row.sums[c] += weight * value[lane + c * kLanes];
      }
    }
  }

  const float total = warp_sum<kLanes>(row.total);
  float* result = out + (begin + query) * kDim;
  for (int c = 0; c < kColumnsEach; ++c) result[lane + c * kLanes] = row.sums[c] / total;
  if (lane == 0) log_sum_exp[begin + query] = row.top + logf(total);
}

}  // namespace

void flash_online(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  walk<<<shape.query_length / kQueries, kThreads>>>(q, k, v, out, log_sum_exp, shape.key_length,
                                                    shape.scale);
  CUDA_CHECK(cudaGetLastError());
}
