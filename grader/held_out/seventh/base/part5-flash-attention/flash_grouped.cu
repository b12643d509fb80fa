#include "flash_grouped.h"

#include <cmath>

#include "toolkit/check.h"

#define BR 64
#define BC 16
#define HD 64
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// thread = query; K/V tile in shared memory; scores one by one (no S tile)
__global__ void flashGQA(const float* Q, const float* K, const float* V, float* O, float* lse,
                         AttentionShape s) {
  __shared__ float Kj[BC * HD];
  __shared__ float Vj[BC * HD];

  const int h = blockIdx.y;
  const int b = blockIdx.z;
  const int rep = s.query_heads / s.key_value_heads;
  const int i = blockIdx.x * BR + threadIdx.x;
  const bool active = i < s.query_length;

  // move the pointers to this head
  const int bh = b * s.query_heads + h;
  const int kvh = b * s.key_value_heads + h / rep;
  Q += (bh * s.query_length + i) * HD;
  O += (bh * s.query_length + i) * HD;
  K += kvh * s.key_length * HD;
  V += kvh * s.key_length * HD;

  float q[HD], acc[HD];
#pragma unroll
  for (int d = 0; d < HD; d++) {
    q[d] = active ? Q[d] : 0.f;
    acc[d] = 0.f;
  }
  float m = -INFINITY, l = 0.f;

  // keys [lo, hi) of this query
  int lo = 0, hi = s.key_length;
  if (s.causal) {
    hi = min(hi, i + 1 + s.key_length - s.query_length);
    if (s.window > 0) lo = max(0, hi - s.window);
  }

  for (int k0 = 0; k0 < s.key_length; k0 += BC) {
    const int n = min(BC, s.key_length - k0) * HD;
    for (int e = threadIdx.x; e < n; e += BR) {
      Kj[e] = K[k0 * HD + e];
      Vj[e] = V[k0 * HD + e];
    }
    __syncthreads();

    for (int j = max(k0, lo); j < min(k0 + BC, hi); j++) {
      const float* kr = Kj + (j - k0) * HD;
      const float* vr = Vj + (j - k0) * HD;
      float x = 0.f;
#pragma unroll
      for (int d = 0; d < HD; d++) x += q[d] * kr[d];
      x *= s.scale;

      if (x > m) {  // new max: shrink what we have
        const float c = expf(m - x);
        l *= c;
#pragma unroll
        for (int d = 0; d < HD; d++) acc[d] *= c;
        m = x;
      }
      const float p = expf(x - m);
      l += p;
#pragma unroll
      for (int d = 0; d < HD; d++) acc[d] += p * vr[d];
    }
    __syncthreads();
  }

  if (!active) return;
#pragma unroll
  for (int d = 0; d < HD; d++) O[d] = l > 0.f ? acc[d] / l : 0.f;
  lse[bh * s.query_length + i] = l > 0.f ? m + logf(l) : -INFINITY;
}

void flash_grouped(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   const AttentionShape& shape) {
  dim3 grid(CEIL_DIV(shape.query_length, BR), shape.query_heads, shape.batch);
  flashGQA<<<grid, BR>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
