#include "attention.h"

#include <cstdint>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

/* A warp takes one query of one head: lane l has elements l, l + 32, ... of the head. */
#define SHARE 8 /* elements of a lane, at most 256 / 32 */

/* What a warp knows after some of the keys. */
struct running {
  float largest;
  float sum;
  float acc[SHARE];
};

template <typename T>
__device__ static void read_share(const T* row, int head_dim, int lane, float share[SHARE]) {
  int e;
  for (e = 0; e < SHARE; e++) {
    int d = lane + e * kWarpSize;
    share[e] = d < head_dim ? rooflab::to_float(row[d]) : 0.0f;
  }
}

__device__ static float dot_over_lanes(const float a[SHARE], const float b[SHARE]) {
  float part = 0.0f;
  int e;
  for (e = 0; e < SHARE; e++) part += a[e] * b[e];
  return warp_sum(part);
}

/* Takes in one more key with its score and its value. */
__device__ static void take_in(struct running* r, float score, const float value[SHARE]) {
  float largest = fmaxf(r->largest, score);
  float shrink = expf(r->largest - largest);
  float weight = expf(score - largest);
  int e;
  r->sum = r->sum * shrink + weight;
  for (e = 0; e < SHARE; e++) r->acc[e] = r->acc[e] * shrink + weight * value[e];
  r->largest = largest;
}

template <typename T>
__global__ void attention_kernel(const T* q, const T* keys, const T* values, const int* positions,
                                 T* out, struct AttentionShape s) {
  int t = blockIdx.x;
  int h = blockIdx.y;
  int b = blockIdx.z;
  int lane = threadIdx.x;
  int kv = h / (s.query_heads / s.key_value_heads);
  std::int64_t query_at =
      (((std::int64_t)b * s.query_length + t) * s.query_heads + h) * s.head_dim;
  std::int64_t ring_at = ((std::int64_t)b * s.key_value_heads + kv) * s.capacity * s.head_dim;

  float query[SHARE], key[SHARE], value[SHARE];
  read_share(q + query_at, s.head_dim, lane, query);

  int last = positions[t];
  int first = 0;
  if (s.window > 0 && last - s.window + 1 > 0) first = last - s.window + 1;

  struct running r = {-1e30f, 0.0f, {}};
  int j, e;
  for (j = first; j <= last; j++) {
    int slot = j % s.capacity;
    std::int64_t at = ring_at + (std::int64_t)slot * s.head_dim;
    read_share(keys + at, s.head_dim, lane, key);
    float score = s.scale * dot_over_lanes(query, key);
    read_share(values + at, s.head_dim, lane, value);
    take_in(&r, score, value);
  }

  for (e = 0; e < SHARE; e++) {
    int d = lane + e * kWarpSize;
    if (d < s.head_dim) out[query_at + d] = rooflab::from_float<T>(r.acc[e] / r.sum);
  }
}

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  dim3 grid(shape.query_length, shape.query_heads, shape.batch);
  attention_kernel<T><<<grid, kWarpSize, 0, stream>>>(q, keys, values, positions, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
