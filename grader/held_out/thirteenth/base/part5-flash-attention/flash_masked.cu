#include "flash_masked.h"

#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kQueries = 16, kKeys = 32, kDim = 64;
constexpr int kLanes = 8;
constexpr int kThreads = kQueries * kLanes;
constexpr int kKeysEach = kKeys / kLanes, kColumnsEach = kDim / kLanes;

// Keys begin ... end - 1.
struct Range {
  int begin, end;
};

__device__ Range seen_by(int query, const AttentionShape& shape) {
  Range range{0, shape.key_length};
  if (shape.causal) {
    range.end = min(shape.key_length, query + 1 + shape.key_length - shape.query_length);
    if (shape.window != 0) range.begin = max(0, range.end - shape.window);
  }
  return range;
}

__global__ void walk(const float* q, const float* k, const float* v, float* out,
                     float* log_sum_exp, AttentionShape shape) {
  __shared__ float queries[kQueries][kDim + 1], keys[kKeys][kDim + 1], values[kKeys][kDim];
  const int first_query = blockIdx.x * kQueries;
  const int last_query = min(first_query + kQueries, shape.query_length) - 1;
  const int query = first_query + threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  const float* my_query = queries[threadIdx.x / kLanes];
  for (int t = threadIdx.x; t < kQueries * kDim; t += kThreads) {
    const bool exists = first_query + t / kDim < shape.query_length;
    queries[t / kDim][t % kDim] = exists ? q[first_query * kDim + t] * shape.scale : 0.0f;
  }

  float top = -INFINITY, total = 0.0f, sums[kColumnsEach] = {};
  const Range mine = seen_by(query, shape);
  const int begin = seen_by(first_query, shape).begin / kKeys * kKeys;
  const int end = seen_by(last_query, shape).end;
  for (int tile = begin; tile < end; tile += kKeys) {
    __syncthreads();
    for (int t = threadIdx.x; t < kKeys * kDim; t += kThreads) {
      const bool exists = tile + t / kDim < shape.key_length;
      keys[t / kDim][t % kDim] = exists ? k[tile * kDim + t] : 0.0f;
      values[t / kDim][t % kDim] = exists ? v[tile * kDim + t] : 0.0f;
    }
    __syncthreads();

    float weights[kKeysEach], next = top;
    for (int e = 0; e < kKeysEach; ++e) {
      const int row = lane + e * kLanes, key = tile + row;
      float dot = 0.0f;
      for (int d = 0; d < kDim; ++d) dot += my_query[d] * keys[row][d];
      weights[e] = key >= mine.begin && key < mine.end ? dot : -INFINITY;
      next = fmaxf(next, weights[e]);
    }
    next = warp_max<kLanes>(next);
    const float base = next == -INFINITY ? 0.0f : next;
    const float shrink = expf(top - base);
    top = next;
    total *= shrink;
    for (float& sum : sums) sum *= shrink;
    for (int e = 0; e < kKeysEach; ++e) {
      weights[e] = expf(weights[e] - base);
      total += weights[e];
      for (int from = 0; from < kLanes; ++from) {
        const float weight = __shfl_sync(0xffffffffu, weights[e], from, kLanes);
        const float* value = values[from + e * kLanes];
        for (int c = 0; c < kColumnsEach; ++c) sums[c] += weight * value[lane + c * kLanes];
      }
    }
  }

  total = warp_sum<kLanes>(total);
  if (query >= shape.query_length) return;
  const float divisor = total > 0.0f ? total : 1.0f;
  float* result = out + query * kDim;
  for (int c = 0; c < kColumnsEach; ++c) result[lane + c * kLanes] = sums[c] / divisor;
  if (lane == 0) log_sum_exp[query] = top + logf(divisor);
}

}  // namespace

void flash_masked(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  const int blocks = (shape.query_length + kQueries - 1) / kQueries;
  walk<<<blocks, kThreads>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
