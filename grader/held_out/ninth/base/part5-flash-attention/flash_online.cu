#include "flash_online.h"

#include "common.cuh"
#include "toolkit/check.h"

#define BQ 64
#define BK 16
#define HD 64

// One thread owns one query: its row of q, its m, l and acc live in registers.
__global__ void online(const float* q, const float* k, const float* v, float* out, float* lse,
                       int nk, float scale) {
  __shared__ float ks[BK][HD], vs[BK][HD];
  int t = threadIdx.x;
  int qi = blockIdx.x * BQ + t;
  float qr[HD], acc[HD];
  for (int d = 0; d < HD; d++) {
    qr[d] = q[qi * HD + d] * scale;
    acc[d] = 0.f;
  }
  float m = -INFINITY, l = 0.f;
  for (int k0 = 0; k0 < nk; k0 += BK) {
    for (int e = t; e < BK * HD; e += BQ) {
      ks[e / HD][e % HD] = k[k0 * HD + e];
      vs[e / HD][e % HD] = v[k0 * HD + e];
    }
    __syncthreads();
    float s[BK];
    float m_new = m;
    for (int j = 0; j < BK; j++) {
      float dot = 0.f;
      for (int d = 0; d < HD; d++) dot += qr[d] * ks[j][d];
      s[j] = dot;
      m_new = fmaxf(m_new, dot);
    }
    float alpha = expf(m - m_new);
    l *= alpha;
    for (int d = 0; d < HD; d++) acc[d] *= alpha;
    for (int j = 0; j < BK; j++) {
      float p = expf(s[j] - m_new);
      l += p;
      for (int d = 0; d < HD; d++) acc[d] += p * vs[j][d];
    }
    m = m_new;
    __syncthreads();
  }
  for (int d = 0; d < HD; d++) out[qi * HD + d] = acc[d] / l;
  lse[qi] = m + logf(l);
}

void flash_online(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  online<<<shape.query_length / BQ, BQ>>>(q, k, v, out, log_sum_exp, shape.key_length, shape.scale);
  CUDA_CHECK(cudaGetLastError());
}
