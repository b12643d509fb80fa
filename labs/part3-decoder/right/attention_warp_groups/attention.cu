#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>

#include "attention.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace cg = cooperative_groups;

constexpr int kEach = 8;  // dimensions of a lane, at most: 256 / 32
constexpr int kWarps = 4;

template <typename T>
__global__ void warps(const T* q, const T* keys, const T* values, const int* positions, T* out,
                      AttentionShape s) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int index = blockIdx.x * kWarps + warp.meta_group_rank();
  if (index >= s.batch * s.query_length * s.query_heads) return;
  const int head = index % s.query_heads;
  const int token = index / s.query_heads % s.query_length;
  const int sequence = index / s.query_heads / s.query_length;
  const long row = static_cast<long>(index) * s.head_dim;
  const int group = s.query_heads / s.key_value_heads;
  const long cache =
      (static_cast<long>(sequence) * s.key_value_heads + head / group) * s.capacity * s.head_dim;
  const int lane = warp.thread_rank();

  float query[kEach], result[kEach] = {};
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int d = lane + 32 * i;
    query[i] = d < s.head_dim ? rooflab::to_float(q[row + d]) * s.scale : 0.0f;
  }
  const int last = positions[token];
  int position = s.window > 0 && last >= s.window ? last - s.window + 1 : 0;
  float largest = -INFINITY, sum = 0.0f;
  for (; position <= last; ++position) {
    const long slot = cache + static_cast<long>(position % s.capacity) * s.head_dim;
    float part = 0.0f;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int d = lane + 32 * i;
      if (d < s.head_dim) part += query[i] * rooflab::to_float(keys[slot + d]);
    }
    const float score = cg::reduce(warp, part, cg::plus<float>());
    if (score > largest) {
      const float shrink = expf(largest - score);
      sum *= shrink;
      for (float& r : result) r *= shrink;
      largest = score;
    }
    const float weight = expf(score - largest);
    sum += weight;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int d = lane + 32 * i;
      if (d < s.head_dim) result[i] += weight * rooflab::to_float(values[slot + d]);
    }
  }
  for (int i = 0; i < kEach; ++i) {
    const int d = lane + 32 * i;
    if (d >= s.head_dim) return;
    out[row + d] = rooflab::from_float<T>(result[i] / sum);
  }
}

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  const int queries = shape.batch * shape.query_length * shape.query_heads;
  warps<<<(queries + kWarps - 1) / kWarps, 32 * kWarps, 0, stream>>>(q, keys, values, positions,
                                                                     out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
