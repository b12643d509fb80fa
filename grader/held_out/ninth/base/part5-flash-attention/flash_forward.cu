#include "flash_forward.h"

#include <cstdint>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"
#include "warp.h"

namespace {

using rooflab::from_float;
using rooflab::to_float;

constexpr int kRows = 8;    // queries of a block: a warp for each
constexpr int kTile = 16;   // keys of a tile

template <typename T, int DIM>
__global__ void forward(const T* q, const T* k, const T* v, T* out, float* lse, AttentionShape s) {
  constexpr int kMine = DIM / 32;  // elements of a head in each lane
  __shared__ T keys[kTile * DIM];
  __shared__ T values[kTile * DIM];
  const int lane = threadIdx.x % 32;
  const int query = blockIdx.x * kRows + threadIdx.x / 32;
  const int head = blockIdx.y, sequence = blockIdx.z;
  const int shared_by = s.query_heads / s.key_value_heads;
  const std::int64_t row =
      (std::int64_t(sequence) * s.query_heads + head) * s.query_length + query;
  const std::int64_t kv = (std::int64_t(sequence) * s.key_value_heads + head / shared_by) *
                          s.key_length * DIM;
  float mine[kMine] = {}, sums[kMine] = {};
  if (query < s.query_length) {
    for (int e = 0; e < kMine; ++e) mine[e] = s.scale * to_float(q[row * DIM + e * 32 + lane]);
  }
  int end = s.key_length, begin = 0;
  if (s.causal) {
    end = query + s.key_length - s.query_length + 1;
    if (s.window > 0) begin = end - s.window;
  }
  float top = -INFINITY, total = 0.0f;
  for (int tile = 0; tile < s.key_length; tile += kTile) {
    const int count = min(kTile, s.key_length - tile);
    for (int e = threadIdx.x; e < count * DIM; e += blockDim.x) {
      keys[e] = k[kv + std::int64_t(tile) * DIM + e];
      values[e] = v[kv + std::int64_t(tile) * DIM + e];
    }
    __syncthreads();
    for (int j = 0; j < count; ++j) {
      if (tile + j < begin || tile + j >= end) continue;
      float dot = 0.0f;
      for (int e = 0; e < kMine; ++e) dot += mine[e] * to_float(keys[j * DIM + e * 32 + lane]);
      dot = warp_sum(dot);
      const float before = top;
      top = fmaxf(top, dot);
      const float fade = expf(before - top);
      const float weight = expf(dot - top);
      total = fade * total + weight;
      for (int e = 0; e < kMine; ++e) {
        sums[e] = fade * sums[e] + weight * to_float(values[j * DIM + e * 32 + lane]);
      }
    }
    __syncthreads();
  }
  if (query >= s.query_length) return;
  for (int e = 0; e < kMine; ++e) {
    out[row * DIM + e * 32 + lane] = from_float<T>(total > 0.0f ? sums[e] / total : 0.0f);
  }
  if (lane == 0) lse[row] = total > 0.0f ? top + logf(total) : -INFINITY;
}

}  // namespace

template <typename T>
void flash_forward(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                   const AttentionShape& shape, cudaStream_t stream) {
  const dim3 grid((shape.query_length + kRows - 1) / kRows, shape.query_heads, shape.batch);
  const auto kernel = shape.head_dim == 64    ? forward<T, 64>
                      : shape.head_dim == 128 ? forward<T, 128>
                                              : forward<T, 256>;
  kernel<<<grid, 32 * kRows, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void flash_forward(const float*, const float*, const float*, float*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __half*, const __half*, const __half*, __half*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                            __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
