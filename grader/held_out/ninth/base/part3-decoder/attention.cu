#include "attention.h"

#include <cstdint>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

using rooflab::from_float;
using rooflab::to_float;

namespace {

constexpr int kPerLane = 8;  // 256 / 32: a head has 256 elements at most

// One warp computes one query of one head, key by key, with the online softmax. A lane holds
// elements lane, lane + 32, lane + 64, ... of the query and of the result.
template <typename T>
__global__ void attend(const T* q, const T* keys, const T* values, const int* positions, T* out,
                       AttentionShape s, std::int64_t queries) {
  const std::int64_t id = std::int64_t(blockIdx.x) * blockDim.y + threadIdx.y;
  if (id >= queries) return;
  const int lane = threadIdx.x;
  const int head = static_cast<int>(id % s.query_heads);
  const std::int64_t token = id / s.query_heads;
  const int index = static_cast<int>(token % s.query_length);
  const int sequence = static_cast<int>(token / s.query_length);
  const int kv = head / (s.query_heads / s.key_value_heads);
  const std::int64_t cache =
      (std::int64_t(sequence) * s.key_value_heads + kv) * s.capacity * std::int64_t(s.head_dim);

  float mine[kPerLane], acc[kPerLane];
  for (int e = 0; e < kPerLane; ++e) {
    const int d = lane + e * kWarpSize;
    mine[e] = d < s.head_dim ? to_float(q[id * s.head_dim + d]) * s.scale : 0.0f;
    acc[e] = 0.0f;
  }
  const int p = positions[index];
  const int first = s.window > 0 ? max(0, p - s.window + 1) : 0;
  float top = -INFINITY, total = 0.0f;
  for (int j = first; j <= p; ++j) {
    const std::int64_t row = cache + std::int64_t(j % s.capacity) * s.head_dim;
    float partial = 0.0f;
    for (int e = 0; e < kPerLane; ++e) {
      const int d = lane + e * kWarpSize;
      if (d < s.head_dim) partial += mine[e] * to_float(keys[row + d]);
    }
    const float score = warp_sum(partial);
    const float larger = fmaxf(top, score);
    const float shrink = expf(top - larger);
    const float weight = expf(score - larger);
    total = total * shrink + weight;
    for (int e = 0; e < kPerLane; ++e) {
      const int d = lane + e * kWarpSize;
      if (d < s.head_dim) acc[e] = acc[e] * shrink + weight * to_float(values[row + d]);
    }
    top = larger;
  }
  for (int e = 0; e < kPerLane; ++e) {
    const int d = lane + e * kWarpSize;
    if (d < s.head_dim) out[id * s.head_dim + d] = from_float<T>(acc[e] / total);
  }
}

}  // namespace

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  const dim3 block(kWarpSize, 4);
  const std::int64_t queries = std::int64_t(shape.batch) * shape.query_length * shape.query_heads;
  const auto blocks = static_cast<unsigned>((queries + block.y - 1) / block.y);
  attend<<<blocks, block, 0, stream>>>(q, keys, values, positions, out, shape, queries);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
