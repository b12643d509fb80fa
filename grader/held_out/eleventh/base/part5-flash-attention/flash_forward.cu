#include "flash_forward.h"

#include <cmath>
#include <cstdint>

#include "toolkit/check.h"
#include "toolkit/vectors.h"
#include "warp.h"

namespace {

constexpr int kQueries = 8;  // of a block, a warp for each
constexpr int kKeys = 32;    // of a tile, a lane for each
constexpr int kThreads = kQueries * 32;

// Keys and values take turns in `tile`.
template <typename T, int kDims>
__device__ void fill(const T* rows, int first, int length, float (&tile)[kKeys][kDims + 1]) {
  for (int e = threadIdx.x; e < kKeys * kDims; e += kThreads) {
    const int r = e / kDims;
    const int d = e % kDims;
    const std::int64_t at = static_cast<std::int64_t>(first + r) * kDims + d;
    tile[r][d] = first + r < length ? rooflab::to_float(rows[at]) : 0.0f;
  }
}

template <typename T, int kDims>
__global__ void flash(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                      AttentionShape shape) {
  __shared__ float queries[kQueries][kDims];
  __shared__ float tile[kKeys][kDims + 1];
  constexpr int kEach = kDims / 32;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int head = blockIdx.y;
  const std::int64_t sequence = blockIdx.z;
  const int key_head = head / (shape.query_heads / shape.key_value_heads);
  const std::int64_t query_row = (sequence * shape.query_heads + head) * shape.query_length;
  const std::int64_t key_row = (sequence * shape.key_value_heads + key_head) * shape.key_length;
  const int begin = blockIdx.x * kQueries;
  const int mine = begin + warp;
  const int shift = shape.key_length - shape.query_length;

  for (int d = lane; d < kDims; d += 32) {
    queries[warp][d] = mine < shape.query_length
                           ? rooflab::to_float(q[(query_row + mine) * kDims + d]) * shape.scale
                           : 0.0f;
  }
  // Keys from `from` to before `to` are those that my query sees.
  int from = 0;
  int to = shape.key_length;
  if (shape.causal) {
    to = min(to, mine + shift + 1);
    if (shape.window > 0) from = max(0, to - shape.window);
  }
  // The block needs what any of its queries sees.
  int tile_from = 0;
  int tile_to = shape.key_length;
  if (shape.causal) {
    tile_to = min(tile_to, begin + kQueries + shift);
    if (shape.window > 0) tile_from = max(0, begin + shift + 1 - shape.window) / kKeys * kKeys;
  }

  float peak = -INFINITY;
  float total = 0.0f;
  float sums[kEach] = {};
  for (int first = tile_from; first < tile_to; first += kKeys) {
    __syncthreads();
    fill<T, kDims>(k + key_row * kDims, first, shape.key_length, tile);
    __syncthreads();
    const int key = first + lane;
    float score = -INFINITY;
    if (key >= from && key < to) {
      score = 0.0f;
      for (int d = 0; d < kDims; ++d) score += queries[warp][d] * tile[lane][d];
    }
    const float higher = fmaxf(peak, warp_max(score));
    const bool any = higher > -INFINITY;
    const float shrink = any ? expf(peak - higher) : 1.0f;
    const float weight = any ? expf(score - higher) : 0.0f;
    peak = higher;
    total = total * shrink + warp_sum(weight);
    __syncthreads();
    fill<T, kDims>(v + key_row * kDims, first, shape.key_length, tile);
    __syncthreads();
    for (int s = 0; s < kEach; ++s) sums[s] *= shrink;
    for (int j = 0; j < kKeys; ++j) {
      const float w = __shfl_sync(0xffffffffu, weight, j);
      for (int s = 0; s < kEach; ++s) sums[s] += w * tile[j][lane + 32 * s];
    }
  }
  if (mine >= shape.query_length) return;
  const float share = total > 0.0f ? 1.0f / total : 0.0f;
  for (int s = 0; s < kEach; ++s) {
    out[(query_row + mine) * kDims + lane + 32 * s] = rooflab::from_float<T>(sums[s] * share);
  }
  if (lane == 0) log_sum_exp[query_row + mine] = total > 0.0f ? peak + logf(total) : -INFINITY;
}

}  // namespace

template <typename T>
void flash_forward(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                   const AttentionShape& shape, cudaStream_t stream) {
  const int tiles = (shape.query_length + kQueries - 1) / kQueries;
  const dim3 grid(tiles, shape.query_heads, shape.batch);
  if (shape.head_dim == 64) {
    flash<T, 64><<<grid, kThreads, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
  } else if (shape.head_dim == 128) {
    flash<T, 128><<<grid, kThreads, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
  } else {
    flash<T, 256><<<grid, kThreads, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
  }
  CUDA_CHECK(cudaGetLastError());
}

template void flash_forward(const float*, const float*, const float*, float*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __half*, const __half*, const __half*, __half*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                            __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
