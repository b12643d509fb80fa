#include "attention.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

using rooflab::from_float;
using rooflab::to_float;

// One warp takes one query of one head and goes through its keys one by one, with a running
// softmax. Lane l has the elements l, l + 32, ... of the head, at most eight of them.
constexpr int kMost = 8;
constexpr int kWarps = 4;

template <typename T>
__global__ void one_by_one(const T* q, const T* keys, const T* values, const int* positions, T* out,
                           AttentionShape s) {
  const int lane = threadIdx.x;
  const int job = blockIdx.x * kWarps + threadIdx.y;  // query and head
  if (job >= s.query_length * s.query_heads) return;
  const int b = blockIdx.y;
  const int i = job / s.query_heads;
  const int h = job % s.query_heads;
  const int kv = h / (s.query_heads / s.key_value_heads);
  const size_t mine = ((size_t)b * s.query_length * s.query_heads + job) * s.head_dim;
  const size_t base = ((size_t)b * s.key_value_heads + kv) * s.capacity;

  float qr[kMost], acc[kMost];
  for (int e = 0; e < kMost; ++e) {
    const int d = lane + 32 * e;
    qr[e] = d < s.head_dim ? to_float(q[mine + d]) * s.scale : 0.0f;
    acc[e] = 0.0f;
  }
  const int p = positions[i];
  const int first = s.window == 0 ? 0 : max(0, p - s.window + 1);
  float biggest = -INFINITY, norm = 0.0f;
  for (int j = first; j <= p; ++j) {
    const size_t slot = (base + j % s.capacity) * s.head_dim;
    float dot = 0.0f;
    for (int e = 0; e < kMost; ++e) {
      const int d = lane + 32 * e;
      if (d < s.head_dim) dot += qr[e] * to_float(keys[slot + d]);
    }
    dot = warp_sum(dot);
    const float now = fmaxf(biggest, dot);
    const float shrink = expf(biggest - now);
    const float w = expf(dot - now);
    norm = norm * shrink + w;
    for (int e = 0; e < kMost; ++e) {
      const int d = lane + 32 * e;
      if (d < s.head_dim) acc[e] = acc[e] * shrink + w * to_float(values[slot + d]);
    }
    biggest = now;
  }
  for (int e = 0; e < kMost; ++e) {
    const int d = lane + 32 * e;
    if (d < s.head_dim) out[mine + d] = from_float<T>(acc[e] / norm);
  }
}

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  const int jobs = shape.query_length * shape.query_heads;
  const dim3 grid((jobs + kWarps - 1) / kWarps, shape.batch);
  one_by_one<T><<<grid, dim3(32, kWarps), 0, stream>>>(q, keys, values, positions, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
