#include "flash_grouped.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kDim = 64, kKeys = 32, kWarps = 8;  // a warp has one query

// The keys [from, to) that query i sees.
struct Sight {
  int from, to;
};
__device__ Sight sight_of(const AttentionShape& s, int i) {
  if (!s.causal) return {0, s.key_length};
  const int own = i + s.key_length - s.query_length;
  const int from = s.window > 0 ? own - s.window + 1 : 0;
  return {max(from, 0), min(own + 1, s.key_length)};
}

__global__ void queries(const float* q, const float* k, const float* v, float* out, float* lse,
                        AttentionShape s) {
  __shared__ float key[kKeys][kDim + 1];
  __shared__ float2 value[kKeys][kDim / 2];
  __shared__ float query[kWarps][kDim];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int head = blockIdx.y, b = blockIdx.z;
  const int group = s.query_heads / s.key_value_heads;
  const int rows = (b * s.query_heads + head) * s.query_length;
  const int kv = (b * s.key_value_heads + head / group) * s.key_length;

  const int first = blockIdx.x * kWarps;
  const int i = first + warp;
  const bool exists = i < s.query_length;
  for (int d = lane; d < kDim; d += 32) query[warp][d] = exists ? q[(rows + i) * kDim + d] : 0.0f;
  const Sight mine = exists ? sight_of(s, i) : Sight{0, 0};
  // What any query of the block sees.
  const int begin = sight_of(s, first).from / kKeys * kKeys;
  const int end = sight_of(s, min(first + kWarps, s.query_length) - 1).to;

  float top = -INFINITY, total = 0.0f;
  float2 sum = {0.0f, 0.0f};
  for (int j0 = begin; j0 < end; j0 += kKeys) {
    __syncthreads();
    for (int e = warp * 32 + lane; e < kKeys * kDim; e += kWarps * 32) {
      const int r = e / kDim, d = e % kDim;
      const bool inside = j0 + r < s.key_length;
      key[r][d] = inside ? k[(kv + j0) * kDim + e] : 0.0f;
      reinterpret_cast<float*>(value[r])[d] = inside ? v[(kv + j0) * kDim + e] : 0.0f;
    }
    __syncthreads();

    float dot = 0.0f;
    for (int d = 0; d < kDim; ++d) dot += query[warp][d] * key[lane][d];
    const int j = j0 + lane;
    const float score = j >= mine.from && j < mine.to ? dot * s.scale : -INFINITY;
    const float now = fmaxf(top, warp_max(score));
    if (now == -INFINITY) continue;  // the whole warp
    const float weight = expf(score - now);
    const float shrink = expf(top - now);
    top = now;
    total = total * shrink + warp_sum(weight);
    sum.x *= shrink;
    sum.y *= shrink;
    for (int t = 0; t < kKeys; ++t) {
      const float w = __shfl_sync(0xffffffff, weight, t);
      sum.x += w * value[t][lane].x;
      sum.y += w * value[t][lane].y;
    }
  }

  if (!exists) return;
  const float by = total > 0.0f ? 1.0f / total : 0.0f;
  reinterpret_cast<float2*>(out)[(rows + i) * (kDim / 2) + lane] = {sum.x * by, sum.y * by};
  if (lane == 0) lse[rows + i] = total > 0.0f ? top + logf(total) : -INFINITY;
}

}  // namespace

void flash_grouped(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   const AttentionShape& shape) {
  const dim3 grid((shape.query_length + kWarps - 1) / kWarps, shape.query_heads, shape.batch);
  queries<<<grid, dim3(32, kWarps)>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
