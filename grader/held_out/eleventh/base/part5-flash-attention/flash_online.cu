#include "flash_online.h"

#include <cmath>

#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kQueries = 16;  // of a block: two for each warp
constexpr int kKeys = 32;     // of a tile: a lane for each
constexpr int kDims = 64;
constexpr int kWarps = 8;
constexpr int kOfWarp = kQueries / kWarps;

// What is known of one query after some of the keys.
struct Running {
  float peak = -INFINITY;
  float total = 0.0f;
  float low = 0.0f, high = 0.0f;  // sums of weights times values: dimensions lane and lane + 32
};

__global__ void walk_tiles(const float* q, const float* k, const float* v, float* out,
                           float* log_sum_exp, int key_length, float scale) {
  __shared__ float queries[kQueries][kDims];
  __shared__ float keys[kKeys][kDims + 1];
  __shared__ float values[kKeys][kDims];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int first = blockIdx.x * kQueries;
  for (int e = threadIdx.x; e < kQueries * kDims; e += kWarps * 32) {
    queries[e / kDims][e % kDims] = scale * q[first * kDims + e];
  }
  Running running[kOfWarp];
  for (int tile = 0; tile < key_length; tile += kKeys) {
    for (int e = threadIdx.x; e < kKeys * kDims; e += kWarps * 32) {
      keys[e / kDims][e % kDims] = k[tile * kDims + e];
      values[e / kDims][e % kDims] = v[tile * kDims + e];
    }
    __syncthreads();
    for (int s = 0; s < kOfWarp; ++s) {
      Running& run = running[s];
      const float* query = queries[warp * kOfWarp + s];
      float score = 0.0f;
      for (int d = 0; d < kDims; ++d) score += query[d] * keys[lane][d];
      const float peak = fmaxf(run.peak, warp_max(score));
      const float shrink = expf(run.peak - peak);
      const float weight = expf(score - peak);
      run.total = run.total * shrink + warp_sum(weight);
      run.low *= shrink;
      run.high *= shrink;
      for (int j = 0; j < kKeys; ++j) {
        const float w = __shfl_sync(0xffffffffu, weight, j);
        run.low += w * values[j][lane];
        run.high += w * values[j][lane + 32];
      }
      run.peak = peak;
    }
    __syncthreads();
  }
  for (int s = 0; s < kOfWarp; ++s) {
    const Running& run = running[s];
    const int query = first + warp * kOfWarp + s;
    out[query * kDims + lane] = run.low / run.total;
    out[query * kDims + lane + 32] = run.high / run.total;
    if (lane == 0) log_sum_exp[query] = run.peak + logf(run.total);
  }
}

}  // namespace

void flash_online(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  walk_tiles<<<shape.query_length / kQueries, kWarps * 32>>>(q, k, v, out, log_sum_exp,
                                                             shape.key_length, shape.scale);
  CUDA_CHECK(cudaGetLastError());
}
