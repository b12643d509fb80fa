#include "attention.h"

#include <cuda_bf16.h>

#include <cmath>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

#define WARP 32
#define MAX_D 256
#define PER_LANE (MAX_D / WARP)
#define FULL_MASK 0xffffffffu

using rooflab::from_float;
using rooflab::to_float;

__device__ __forceinline__ float allReduceSum(float v) {
  for (int m = WARP / 2; m > 0; m >>= 1) v += __shfl_xor_sync(FULL_MASK, v, m);
  return v;
}

// one warp per (token, head, sequence), online softmax over the visible keys
template <typename T>
__global__ void attnWarp(const T* q, const T* kc, const T* vc, const int* pos, T* out,
                         AttentionShape s) {
  const int t = blockIdx.x;
  const int h = blockIdx.y;
  const int b = blockIdx.z;
  const int lane = threadIdx.x;
  const int D = s.head_dim;
  const int g = h / (s.query_heads / s.key_value_heads);

  const size_t qoff = (((size_t)b * s.query_length + t) * s.query_heads + h) * D;
  const size_t kvoff = ((size_t)b * s.key_value_heads + g) * s.capacity * D;

  float rq[PER_LANE], acc[PER_LANE];
#pragma unroll
  for (int e = 0; e < PER_LANE; e++) {
    const int d = lane + e * WARP;
    rq[e] = d < D ? to_float(q[qoff + d]) * s.scale : 0.f;
    acc[e] = 0.f;
  }

  const int p = pos[t];
  int lo = 0;
  if (s.window > 0 && p - s.window + 1 > 0) lo = p - s.window + 1;

  float m = -INFINITY, l = 0.f;
  for (int j = lo; j <= p; j++) {
    const size_t row = kvoff + (size_t)(j % s.capacity) * D;
    float dot = 0.f;
#pragma unroll
    for (int e = 0; e < PER_LANE; e++) {
      const int d = lane + e * WARP;
      if (d < D) dot += rq[e] * to_float(kc[row + d]);
    }
    dot = allReduceSum(dot);

    const float mNew = fmaxf(m, dot);
    const float corr = expf(m - mNew);
    const float w = expf(dot - mNew);
    l = l * corr + w;
#pragma unroll
    for (int e = 0; e < PER_LANE; e++) {
      const int d = lane + e * WARP;
      if (d < D) acc[e] = acc[e] * corr + w * to_float(vc[row + d]);
    }
    m = mNew;
  }

#pragma unroll
  for (int e = 0; e < PER_LANE; e++) {
    const int d = lane + e * WARP;
    if (d < D) out[qoff + d] = from_float<T>(acc[e] / l);
  }
}

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  dim3 grid(shape.query_length, shape.query_heads, shape.batch);
  attnWarp<T><<<grid, WARP, 0, stream>>>(q, keys, values, positions, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
