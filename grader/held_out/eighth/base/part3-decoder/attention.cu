#include "attention.h"

#include <cmath>
#include <cstdint>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

using rooflab::from_float;
using rooflab::to_float;

// One warp for one query of one head. It goes over the keys twice: for the largest score, then for
// the weights. Lane l holds the elements l, l + 32, ... of the head.
constexpr int kPieces = 8;  // 256 / 32
constexpr int kWarps = 4;

template <typename T>
struct Head {
  const T* rows;
  int head_dim;
  int capacity;

  __device__ const T* at(int position) const {
    return rows + static_cast<std::int64_t>(position % capacity) * head_dim;
  }
};

template <typename T>
__device__ float score_of(const float (&query)[kPieces], const T* key, int head_dim) {
  float dot = 0.0f;
  for (int p = 0; p < kPieces; ++p) {
    const int d = threadIdx.x + p * 32;
    if (d < head_dim) dot += query[p] * to_float(key[d]);
  }
  return warp_sum(dot);
}

template <typename T>
__global__ void attend(const T* q, const T* keys, const T* values, const int* positions, T* out,
                       AttentionShape s) {
  const int task = blockIdx.x * kWarps + threadIdx.y;
  if (task >= s.query_length * s.query_heads) return;
  const int row = task / s.query_heads;
  const int head = task % s.query_heads;
  const int sequence = blockIdx.y;
  const int kv_head = head / (s.query_heads / s.key_value_heads);
  const std::int64_t store =
      (static_cast<std::int64_t>(sequence) * s.key_value_heads + kv_head) * s.capacity * s.head_dim;
  const Head<T> key_rows{keys + store, s.head_dim, s.capacity};
  const Head<T> value_rows{values + store, s.head_dim, s.capacity};
  const std::int64_t at =
      (static_cast<std::int64_t>(sequence) * s.query_length * s.query_heads + task) * s.head_dim;

  float query[kPieces] = {};
  for (int p = 0; p < kPieces; ++p) {
    const int d = threadIdx.x + p * 32;
    if (d < s.head_dim) query[p] = to_float(q[at + d]) * s.scale;
  }

  const int last = positions[row];
  const int first = s.window > 0 ? max(0, last - s.window + 1) : 0;
  float largest = -INFINITY;
  for (int j = first; j <= last; ++j) {
    largest = fmaxf(largest, score_of(query, key_rows.at(j), s.head_dim));
  }

  float total = 0.0f;
  float mixed[kPieces] = {};
  for (int j = first; j <= last; ++j) {
    const float weight = expf(score_of(query, key_rows.at(j), s.head_dim) - largest);
    total += weight;
    const T* value = value_rows.at(j);
    for (int p = 0; p < kPieces; ++p) {
      const int d = threadIdx.x + p * 32;
      if (d < s.head_dim) mixed[p] += weight * to_float(value[d]);
    }
  }

  for (int p = 0; p < kPieces; ++p) {
    const int d = threadIdx.x + p * 32;
    if (d < s.head_dim) out[at + d] = from_float<T>(mixed[p] / total);
  }
}

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  const int tasks = shape.query_length * shape.query_heads;
  const dim3 grid((tasks + kWarps - 1) / kWarps, shape.batch);
  attend<<<grid, dim3(32, kWarps), 0, stream>>>(q, keys, values, positions, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
