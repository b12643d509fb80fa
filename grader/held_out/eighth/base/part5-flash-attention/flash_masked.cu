#include "flash_masked.h"

#include <cmath>

#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kDim = 64;
constexpr int kTile = 32;
constexpr int kWarps = 8;  // of a block, each with a query of its own

__device__ bool sees(const AttentionShape& s, int i, int j) {
  if (j >= s.key_length) return false;
  if (!s.causal) return true;
  const int own = i + s.key_length - s.query_length;
  return j <= own && (s.window == 0 || j > own - s.window);
}

__global__ void masked_rows(const float* q, const float* k, const float* v, float* out,
                            float* log_sum_exp, AttentionShape s) {
  __shared__ float keys[kTile][kDim + 1];
  __shared__ float values[kTile][kDim];
  __shared__ float query[kWarps][kDim];
  const int lane = threadIdx.x;
  const int warp = threadIdx.y;
  const int i = blockIdx.x * kWarps + warp;
  const bool exists = i < s.query_length;
  for (int d = lane; d < kDim; d += 32) query[warp][d] = exists ? q[i * kDim + d] : 0.0f;

  float top = -INFINITY;
  float sum = 0.0f;
  float low = 0.0f;
  float high = 0.0f;
  for (int tile = 0; tile < s.key_length; tile += kTile) {
    for (int e = warp * 32 + lane; e < kTile * kDim; e += 32 * kWarps) {
      const bool inside = tile + e / kDim < s.key_length;
      keys[e / kDim][e % kDim] = inside ? k[tile * kDim + e] : 0.0f;
      values[e / kDim][e % kDim] = inside ? v[tile * kDim + e] : 0.0f;
    }
    __syncthreads();

    float score = -INFINITY;
    if (sees(s, i, tile + lane)) {
      score = 0.0f;
      for (int d = 0; d < kDim; ++d) score += query[warp][d] * keys[lane][d];
      score *= s.scale;
    }
    const float new_top = fmaxf(top, warp_max(score));
    if (new_top > -INFINITY) {
      const float weight = expf(score - new_top);
      const float shrink = expf(top - new_top);
      sum = sum * shrink + warp_sum(weight);
      low *= shrink;
      high *= shrink;
      for (int j = 0; j < kTile; ++j) {
        const float w = __shfl_sync(0xffffffff, weight, j);
        low += w * values[j][lane];
        high += w * values[j][lane + 32];
      }
      top = new_top;
    }
    __syncthreads();
  }

  if (!exists) return;
  const float norm = sum > 0.0f ? 1.0f / sum : 0.0f;
  out[i * kDim + lane] = low * norm;
  out[i * kDim + lane + 32] = high * norm;
  if (lane == 0) log_sum_exp[i] = top + logf(sum);
}

}  // namespace

void flash_masked(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  const int blocks = (shape.query_length + kWarps - 1) / kWarps;
  masked_rows<<<blocks, dim3(32, kWarps)>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
