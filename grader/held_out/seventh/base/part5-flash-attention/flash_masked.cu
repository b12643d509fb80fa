#include "flash_masked.h"

#include <cmath>

#include "toolkit/check.h"

#define BR 16
#define BC 32
#define HD 64
#define NW 4
#define FULL_MASK 0xffffffffu
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// warp = BR / NW queries, lane = key of the tile / two columns of the output
__global__ void flashMasked(const float* Q, const float* K, const float* V, float* O, float* lse,
                            AttentionShape s) {
  __shared__ float Ks[BC][HD + 1];
  __shared__ float Vs[BC][HD];
  __shared__ float Qs[BR][HD];

  const int lane = threadIdx.x;
  const int w = threadIdx.y;
  const int tid = w * 32 + lane;
  const int q0 = blockIdx.x * BR;
  const int nq = s.query_length, nk = s.key_length;

  for (int i = tid; i < BR * HD; i += NW * 32) {
    const int r = q0 + i / HD;
    Qs[i / HD][i % HD] = r < nq ? Q[r * HD + i % HD] : 0.f;
  }

  float m[BR / NW], l[BR / NW], o0[BR / NW], o1[BR / NW];
  for (int a = 0; a < BR / NW; a++) {
    m[a] = -INFINITY;
    l[a] = o0[a] = o1[a] = 0.f;
  }

  for (int k0 = 0; k0 < nk; k0 += BC) {
    for (int i = tid; i < BC * HD; i += NW * 32) {
      const int r = k0 + i / HD;
      Ks[i / HD][i % HD] = r < nk ? K[r * HD + i % HD] : 0.f;
      Vs[i / HD][i % HD] = r < nk ? V[r * HD + i % HD] : 0.f;
    }
    __syncthreads();

    for (int a = 0; a < BR / NW; a++) {
      const int i = q0 + w * (BR / NW) + a;  // query
      const int j = k0 + lane;               // key
      const int last = s.causal ? i + nk - nq : nk - 1;
      bool seen = j < nk && j <= last;
      if (s.window > 0) seen = seen && j > last - s.window;

      float dot = 0.f;
      for (int d = 0; d < HD; d++) dot += Qs[i - q0][d] * Ks[lane][d];
      const float sc = seen ? dot * s.scale : -INFINITY;

      float mt = sc;
      for (int x = 16; x > 0; x >>= 1) mt = fmaxf(mt, __shfl_xor_sync(FULL_MASK, mt, x));
      const float mNew = fmaxf(m[a], mt);
      if (mNew == -INFINITY) continue;  // nothing seen so far, exp(-inf + inf) is NaN

      const float alpha = expf(m[a] - mNew);
      const float p = expf(sc - mNew);
      float ps = p;
      for (int x = 16; x > 0; x >>= 1) ps += __shfl_xor_sync(FULL_MASK, ps, x);

      l[a] = l[a] * alpha + ps;
      o0[a] *= alpha;
      o1[a] *= alpha;
      for (int c = 0; c < BC; c++) {
        const float pc = __shfl_sync(FULL_MASK, p, c);
        o0[a] += pc * Vs[c][lane];
        o1[a] += pc * Vs[c][lane + 32];
      }
      m[a] = mNew;
    }
    __syncthreads();
  }

  for (int a = 0; a < BR / NW; a++) {
    const int i = q0 + w * (BR / NW) + a;
    if (i >= nq) continue;
    const float inv = l[a] > 0.f ? 1.f / l[a] : 0.f;
    O[i * HD + lane] = o0[a] * inv;
    O[i * HD + lane + 32] = o1[a] * inv;
    if (lane == 0) lse[i] = m[a] + logf(l[a]);  // log(0) = -inf
  }
}

void flash_masked(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  flashMasked<<<CEIL_DIV(shape.query_length, BR), dim3(32, NW)>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
