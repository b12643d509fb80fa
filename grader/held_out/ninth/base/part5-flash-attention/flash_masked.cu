#include "flash_masked.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kDim = 64;
constexpr int kTile = 32;        // keys of a tile, one for each lane
constexpr int kQueryWarps = 8;   // queries of a block, one for each warp

// Which keys a query sees: first ... last, nothing when last < first.
struct Visible {
  int first, last;
  __device__ Visible(int query, const AttentionShape& s) {
    const int offset = s.key_length - s.query_length;
    first = 0;
    last = s.key_length - 1;
    if (s.causal) {
      last = query + offset;
      if (s.window > 0) first = max(0, last - s.window + 1);
    }
  }
  __device__ bool sees(int key) const { return key >= first && key <= last; }
};

__global__ void masked(const float* q, const float* k, const float* v, float* out, float* lse,
                       AttentionShape s) {
  __shared__ float keys[kTile][kDim + 1];
  __shared__ float values[kTile][kDim];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int query = blockIdx.x * kQueryWarps + warp;
  const bool mine = query < s.query_length;
  const Visible visible(query, s);
  float top = -INFINITY, total = 0.0f, low = 0.0f, high = 0.0f;
  for (int begin = 0; begin < s.key_length; begin += kTile) {
    for (int e = threadIdx.x; e < kTile * kDim; e += blockDim.x) {
      const int r = e / kDim, d = e % kDim;
      const bool exists = begin + r < s.key_length;
      keys[r][d] = exists ? k[(begin + r) * kDim + d] : 0.0f;
      values[r][d] = exists ? v[(begin + r) * kDim + d] : 0.0f;
    }
    __syncthreads();
    if (mine) {
      float score = -INFINITY;
      if (visible.sees(begin + lane)) {
        score = 0.0f;
        for (int d = 0; d < kDim; ++d) score += q[query * kDim + d] * keys[lane][d];
        score *= s.scale;
      }
      const float larger = fmaxf(top, warp_max(score));
      if (larger > -INFINITY) {
        const float shrink = expf(top - larger);
        const float weight = expf(score - larger);
        total = total * shrink + warp_sum(weight);
        low *= shrink;
        high *= shrink;
        for (int j = 0; j < kTile; ++j) {
          const float w = __shfl_sync(0xffffffff, weight, j);
          low += w * values[j][lane];
          high += w * values[j][lane + 32];
        }
        top = larger;
      }
    }
    __syncthreads();
  }
  if (!mine) return;
  const float inverse = total > 0.0f ? 1.0f / total : 0.0f;
  out[query * kDim + lane] = low * inverse;
  out[query * kDim + lane + 32] = high * inverse;
  if (lane == 0) lse[query] = total > 0.0f ? top + logf(total) : -INFINITY;
}

}  // namespace

void flash_masked(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  const int blocks = (shape.query_length + kQueryWarps - 1) / kQueryWarps;
  masked<<<blocks, kQueryWarps * 32>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
