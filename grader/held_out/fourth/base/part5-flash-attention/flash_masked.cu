#include "flash_masked.h"

#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kWidth = 64;
constexpr int kWarps = 8;  // queries of a block: a warp for each
constexpr int kKeys = 32;  // of a tile: a lane for each

// The keys begin ... end - 1.
struct Range {
  int begin, end;
};

__device__ Range keys_of(int query, const AttentionShape& s) {
  if (!s.causal) return {0, s.key_length};
  const int own = query + s.key_length - s.query_length;
  const int begin = s.window > 0 ? own - s.window + 1 : 0;
  return {max(begin, 0), own + 1};
}

__global__ void masked(const float* q, const float* k, const float* v, float* out,
                       float* log_sum_exp, AttentionShape s) {
  __shared__ float queries[kWarps][kWidth];
  __shared__ float keys[kKeys][kWidth + 1];
  __shared__ float values[kKeys][kWidth];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int first = blockIdx.x * kWarps;
  const int query = first + warp;
  const bool exists = query < s.query_length;
  for (int half = 0; half < kWidth; half += 32) {
    queries[warp][half + lane] = exists ? q[query * kWidth + half + lane] : 0.0f;
  }

  // The block walks over what any of its queries sees.
  const Range mine = keys_of(query, s);
  const int start = keys_of(first, s).begin / kKeys * kKeys;
  const int stop = min(keys_of(first + kWarps - 1, s).end, s.key_length);

  float peak = -INFINITY, mass = 0.0f;
  float low = 0.0f, high = 0.0f;  // elements lane and lane + 32 of the result
  for (int tile = start; tile < stop; tile += kKeys) {
    __syncthreads();
    for (int row = warp; row < kKeys; row += kWarps) {
      const int key = tile + row;
      for (int half = 0; half < kWidth; half += 32) {
        const bool there = key < s.key_length;
        keys[row][half + lane] = there ? k[key * kWidth + half + lane] : 0.0f;
        values[row][half + lane] = there ? v[key * kWidth + half + lane] : 0.0f;
      }
    }
    __syncthreads();

    const int key = tile + lane;
    float score = -INFINITY;
    if (key >= mine.begin && key < mine.end) {
      score = 0.0f;
      for (int d = 0; d < kWidth; ++d) score += queries[warp][d] * keys[lane][d];
      score *= s.scale;
    }
    const float higher = fmaxf(peak, warp_max(score));
    if (higher == -INFINITY) continue;  // nothing of this tile is visible, nor was before
    const float factor = expf(peak - higher);
    const float weight = expf(score - higher);
    mass = mass * factor + warp_sum(weight);
    low *= factor;
    high *= factor;
    for (int j = 0; j < kKeys; ++j) {
      const float of_key = __shfl_sync(0xffffffff, weight, j);
      low += of_key * values[j][lane];
      high += of_key * values[j][lane + 32];
    }
    peak = higher;
  }

  if (!exists) return;
  const float inverse = mass > 0.0f ? 1.0f / mass : 0.0f;
  out[query * kWidth + lane] = low * inverse;
  out[query * kWidth + lane + 32] = high * inverse;
  if (lane == 0) log_sum_exp[query] = mass > 0.0f ? peak + logf(mass) : -INFINITY;
}

}  // namespace

void flash_masked(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  const int blocks = (shape.query_length + kWarps - 1) / kWarps;
  masked<<<blocks, dim3(32, kWarps)>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
