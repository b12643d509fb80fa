#include "flash_forward.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <stdexcept>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace cg = cooperative_groups;

constexpr int kLanes = 4;
constexpr int kQueries = 32;  // of a block
constexpr int kKeys = 16;

template <int kDim, typename T>
__global__ void __launch_bounds__(kQueries* kLanes)
    four_lanes(const T* q, const T* k, const T* v, T* out, float* log_sum_exp, AttentionShape s) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* key_tile = reinterpret_cast<T*>(memory);
  T* value_tile = key_tile + kKeys * kDim;
  constexpr int kEach = kDim / kLanes;

  const auto block = cg::this_thread_block();
  const auto four = cg::tiled_partition<kLanes>(block);
  const int lane = four.thread_rank();
  const int tile = blockIdx.x / s.query_heads;
  const int query = tile * kQueries + four.meta_group_rank();
  const int head = blockIdx.x % s.query_heads, sequence = blockIdx.y;
  const long kv_head = sequence * s.key_value_heads + head / (s.query_heads / s.key_value_heads);
  const long row = (static_cast<long>(sequence) * s.query_heads + head) * s.query_length + query;
  const T* head_keys = k + kv_head * s.key_length * kDim;
  const T* head_values = v + kv_head * s.key_length * kDim;

  // Lane l has the dimensions l, l + 4, l + 8, ...
  float mine[kEach], sums[kEach];
  for (int i = 0; i < kEach; ++i) {
    mine[i] =
        query < s.query_length ? s.scale * rooflab::to_float(q[row * kDim + lane + kLanes * i]) : 0;
    sums[i] = 0;
  }
  int first = 0, behind = s.key_length, block_first = 0, block_behind = s.key_length;
  if (s.causal) {
    const int offset = s.key_length - s.query_length;
    behind = max(0, query + offset + 1);
    block_behind = max(0, min(s.key_length, (tile + 1) * kQueries + offset));
    if (s.window > 0) {
      first = max(0, behind - s.window);
      block_first = max(0, tile * kQueries + offset + 1 - s.window);
    }
  }

  float largest = -INFINITY, weights = 0.0f;
  for (int k0 = block_first; k0 < block_behind; k0 += kKeys) {
    const int count = min(kKeys, s.key_length - k0);
    cg::memcpy_async(block, key_tile, head_keys + static_cast<long>(k0) * kDim,
                     sizeof(T) * count * kDim);
    cg::memcpy_async(block, value_tile, head_values + static_cast<long>(k0) * kDim,
                     sizeof(T) * count * kDim);
    cg::wait(block);
    for (int j = 0; j < count; ++j) {
      const int key = k0 + j;
      float part = 0;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        part += mine[i] * rooflab::to_float(key_tile[j * kDim + lane + kLanes * i]);
      }
      const float score = cg::reduce(four, part, cg::plus<float>());
      if (key < first || key >= behind) continue;
      const float next = fmaxf(largest, score);
      const float shrink = __expf(largest - next), weight = __expf(score - next);
      largest = next;
      weights = weights * shrink + weight;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        sums[i] =
            sums[i] * shrink + weight * rooflab::to_float(value_tile[j * kDim + lane + kLanes * i]);
      }
    }
    block.sync();
  }
  if (query >= s.query_length) return;
  const float inverse = weights > 0.0f ? 1.0f / weights : 0.0f;
  for (int i = 0; i < kEach; ++i) {
    out[row * kDim + lane + kLanes * i] = rooflab::from_float<T>(sums[i] * inverse);
  }
  if (lane == 0) log_sum_exp[row] = weights > 0.0f ? largest + logf(weights) : -INFINITY;
}

template <int kDim, typename T>
void launch(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
            const AttentionShape& shape, cudaStream_t stream) {
  const int bytes = 2 * kKeys * kDim * sizeof(T);
  const int tiles = (shape.query_length + kQueries - 1) / kQueries;
  const dim3 grid(tiles * shape.query_heads, shape.batch);
  four_lanes<kDim><<<grid, kQueries * kLanes, bytes, stream>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}

template <typename T>
void flash_forward(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                   const AttentionShape& shape, cudaStream_t stream) {
  const auto run = shape.head_dim == 64    ? launch<64, T>
                   : shape.head_dim == 128 ? launch<128, T>
                   : shape.head_dim == 256 ? launch<256, T>
                                           : nullptr;
  if (run == nullptr) throw std::invalid_argument("a head has 64, 128 or 256 elements");
  run(q, k, v, out, log_sum_exp, shape, stream);
}

template void flash_forward(const float*, const float*, const float*, float*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __half*, const __half*, const __half*, __half*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                            __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
