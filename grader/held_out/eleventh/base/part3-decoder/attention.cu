#include "attention.h"

#include <cmath>
#include <cstdint>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kTeam = 128;
constexpr int kWarps = kTeam / kWarpSize;
constexpr int kMostDims = 256;

// One query of one head for a block. It takes kTeam keys at a time: a thread computes the score of
// one of them, then each thread adds its dimensions of their values.
template <typename T>
__global__ void one_query(const T* q, const T* keys, const T* values, const int* positions, T* out,
                          AttentionShape shape) {
  __shared__ float query[kMostDims];
  __shared__ float weight[kTeam];
  __shared__ float peaks[kWarps];
  __shared__ float sums[kWarps];
  const int me = threadIdx.x;
  const int dims = shape.head_dim;
  const int head = blockIdx.y;
  const std::int64_t sequence = blockIdx.z;
  const int key_head = head / (shape.query_heads / shape.key_value_heads);
  const std::int64_t at =
      ((sequence * shape.query_length + blockIdx.x) * shape.query_heads + head) * dims;
  const std::int64_t cache =
      (sequence * shape.key_value_heads + key_head) * static_cast<std::int64_t>(shape.capacity);
  const int position = positions[blockIdx.x];
  const int oldest = shape.window > 0 ? max(position - shape.window + 1, 0) : 0;

  for (int d = me; d < dims; d += kTeam) query[d] = rooflab::to_float(q[at + d]) * shape.scale;
  float mixed[kMostDims / kTeam] = {};
  float peak = -INFINITY;
  float total = 0.0f;
  for (int base = oldest; base <= position; base += kTeam) {
    __syncthreads();  // the query is there, and nobody needs the last weights any more
    const int j = base + me;
    float score = -INFINITY;
    if (j <= position) {
      const T* key = keys + (cache + j % shape.capacity) * dims;
      score = 0.0f;
      for (int d = 0; d < dims; ++d) score += query[d] * rooflab::to_float(key[d]);
    }
    const float of_warp = warp_max(score);
    if (me % kWarpSize == 0) peaks[me / kWarpSize] = of_warp;
    __syncthreads();
    float higher = peak;
    for (int w = 0; w < kWarps; ++w) higher = fmaxf(higher, peaks[w]);
    const float shrink = expf(peak - higher);
    const float mine = expf(score - higher);
    weight[me] = mine;
    const float part = warp_sum(mine);
    if (me % kWarpSize == 0) sums[me / kWarpSize] = part;
    __syncthreads();
    total *= shrink;
    for (int w = 0; w < kWarps; ++w) total += sums[w];
    const int many = min(kTeam, position - base + 1);
    for (int s = 0; s < kMostDims / kTeam; ++s) {
      const int d = me + s * kTeam;
      if (d >= dims) break;
      mixed[s] *= shrink;
      for (int i = 0; i < many; ++i) {
        const int slot = (base + i) % shape.capacity;
        mixed[s] += weight[i] * rooflab::to_float(values[(cache + slot) * dims + d]);
      }
    }
    peak = higher;
  }
  for (int s = 0; s < kMostDims / kTeam; ++s) {
    const int d = me + s * kTeam;
    if (d < dims) out[at + d] = rooflab::from_float<T>(mixed[s] / total);
  }
}

}  // namespace

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.query_length, shape.query_heads, shape.batch);
  one_query<<<grid, kTeam, 0, stream>>>(q, keys, values, positions, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
