#include "flash_grouped.h"

#include <cmath>

#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kWarps = 4;
constexpr int kEach = 4;  // queries of a warp
constexpr int kQueries = kWarps * kEach;
constexpr int kKeys = 32;
constexpr int kDims = 64;
constexpr int kThreads = kWarps * 32;

__global__ void attend_heads(const float* q, const float* k, const float* v, float* out,
                             float* log_sum_exp, AttentionShape shape) {
  __shared__ float queries[kQueries][kDims];
  __shared__ float keys[kKeys][kDims + 1];
  __shared__ float values[kKeys][kDims];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int first = blockIdx.z * kQueries;
  const int head = blockIdx.x;
  const int sequence = blockIdx.y;
  const int group = shape.query_heads / shape.key_value_heads;
  const int query_row = (sequence * shape.query_heads + head) * shape.query_length;
  const int key_row = (sequence * shape.key_value_heads + head / group) * shape.key_length;
  const int shift = shape.key_length - shape.query_length;

  for (int e = threadIdx.x; e < kQueries * kDims; e += kThreads) {
    const int i = first + e / kDims;
    queries[e / kDims][e % kDims] =
        i < shape.query_length ? q[(query_row + i) * kDims + e % kDims] * shape.scale : 0.0f;
  }
  float peak[kEach], total[kEach], low[kEach], high[kEach];
  for (int s = 0; s < kEach; ++s) {
    peak[s] = -INFINITY;
    total[s] = low[s] = high[s] = 0.0f;
  }
  for (int tile = 0; tile < shape.key_length; tile += kKeys) {
    __syncthreads();
    for (int e = threadIdx.x; e < kKeys * kDims; e += kThreads) {
      const int j = tile + e / kDims;
      const int at = (key_row + j) * kDims + e % kDims;
      keys[e / kDims][e % kDims] = j < shape.key_length ? k[at] : 0.0f;
      values[e / kDims][e % kDims] = j < shape.key_length ? v[at] : 0.0f;
    }
    __syncthreads();
    const int j = tile + lane;
    for (int s = 0; s < kEach; ++s) {
      const int slot = warp + s * kWarps;
      const int last = first + slot + shift;
      bool hidden = j >= shape.key_length;
      if (shape.causal && j > last) hidden = true;
      if (shape.window > 0 && j <= last - shape.window) hidden = true;
      float score = 0.0f;
      for (int d = 0; d < kDims; ++d) score += queries[slot][d] * keys[lane][d];
      if (hidden) score = -INFINITY;
      const float higher = fmaxf(peak[s], warp_max(score));
      if (higher == -INFINITY) continue;
      const float shrink = expf(peak[s] - higher);
      const float weight = expf(score - higher);
      peak[s] = higher;
      total[s] = total[s] * shrink + warp_sum(weight);
      low[s] *= shrink;
      high[s] *= shrink;
      for (int i = 0; i < kKeys; ++i) {
        const float w = __shfl_sync(0xffffffffu, weight, i);
        low[s] += w * values[i][lane];
        high[s] += w * values[i][lane + 32];
      }
    }
  }
  for (int s = 0; s < kEach; ++s) {
    const int i = first + warp + s * kWarps;
    if (i >= shape.query_length) continue;
    const bool any = total[s] > 0.0f;
    float* row = out + (query_row + i) * kDims;
    row[lane] = any ? low[s] / total[s] : 0.0f;
    row[lane + 32] = any ? high[s] / total[s] : 0.0f;
    if (lane == 0) log_sum_exp[query_row + i] = any ? peak[s] + logf(total[s]) : -INFINITY;
  }
}

}  // namespace

void flash_grouped(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   const AttentionShape& shape) {
  const int tiles = (shape.query_length + kQueries - 1) / kQueries;
  const dim3 grid(shape.query_heads, shape.batch, tiles);
  attend_heads<<<grid, kThreads>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
