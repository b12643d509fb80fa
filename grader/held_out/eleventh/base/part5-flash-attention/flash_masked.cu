#include "flash_masked.h"

#include <cmath>

#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kQueries = 8;  // of a block, a warp for each
constexpr int kKeys = 32;
constexpr int kDims = 64;

// The keys from `first` to before `last` are those that a query sees.
struct Span {
  int first, last;
};

__device__ Span visible(const AttentionShape& shape, int query) {
  Span span{0, shape.key_length};
  if (shape.causal) {
    const int own = query + shape.key_length - shape.query_length;
    span.last = own + 1;
    if (shape.window > 0) span.first = max(0, span.last - shape.window);
  }
  return span;
}

__global__ void attend_masked(const float* q, const float* k, const float* v, float* out,
                              float* log_sum_exp, AttentionShape shape) {
  __shared__ float queries[kQueries][kDims];
  __shared__ float keys[kKeys][kDims + 1];
  __shared__ float values[kKeys][kDims];
  const int lane = threadIdx.x;
  const int warp = threadIdx.y;
  const int query = blockIdx.x * kQueries + warp;
  const bool real = query < shape.query_length;
  for (int d = lane; d < kDims; d += 32) {
    queries[warp][d] = real ? q[query * kDims + d] : 0.0f;
  }
  const Span span = visible(shape, query);
  float peak = -INFINITY;
  float total = 0.0f;
  float sums[2] = {};
  for (int tile = 0; tile < shape.key_length; tile += kKeys) {
    for (int r = warp; r < kKeys; r += kQueries) {
      const bool exists = tile + r < shape.key_length;
      for (int d = lane; d < kDims; d += 32) {
        keys[r][d] = exists ? k[(tile + r) * kDims + d] : 0.0f;
        values[r][d] = exists ? v[(tile + r) * kDims + d] : 0.0f;
      }
    }
    __syncthreads();
    const int key = tile + lane;
    float score = -INFINITY;
    if (key >= span.first && key < span.last) {
      score = 0.0f;
      for (int d = 0; d < kDims; ++d) score += queries[warp][d] * keys[lane][d];
      score *= shape.scale;
    }
    const float higher = fmaxf(peak, warp_max(score));
    if (higher > -INFINITY) {
      const float shrink = expf(peak - higher);
      const float weight = expf(score - higher);
      total = total * shrink + warp_sum(weight);
      for (float& sum : sums) sum *= shrink;
      for (int j = 0; j < kKeys; ++j) {
        const float w = __shfl_sync(0xffffffffu, weight, j);
        sums[0] += w * values[j][lane];
        sums[1] += w * values[j][lane + 32];
      }
      peak = higher;
    }
    __syncthreads();
  }
  if (!real) return;
  const float share = total > 0.0f ? 1.0f / total : 0.0f;
  out[query * kDims + lane] = sums[0] * share;
  out[query * kDims + lane + 32] = sums[1] * share;
  if (lane == 0) log_sum_exp[query] = total > 0.0f ? peak + logf(total) : -INFINITY;
}

}  // namespace

void flash_masked(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  const int blocks = (shape.query_length + kQueries - 1) / kQueries;
  attend_masked<<<blocks, dim3(32, kQueries)>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
