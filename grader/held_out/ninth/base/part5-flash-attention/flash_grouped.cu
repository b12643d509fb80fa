#include "flash_grouped.h"

#include "common.cuh"
#include "toolkit/check.h"

#define BQ 32
#define BK 32
#define HD 64
#define TPQ 4           // threads of one query
#define PER (HD / TPQ)  // elements of the head that each of them has

__global__ void grouped(const float* q, const float* k, const float* v, float* out, float* lse,
                        AttentionShape sh) {
  __shared__ float ks[BK][HD];
  __shared__ float vs[BK][HD];
  int h = blockIdx.y, b = blockIdx.z;
  int kvh = h / (sh.query_heads / sh.key_value_heads);
  int nq = sh.query_length, nk = sh.key_length;
  const float* qh = q + (b * sh.query_heads + h) * nq * HD;
  float* oh = out + (b * sh.query_heads + h) * nq * HD;
  float* lh = lse + (b * sh.query_heads + h) * nq;
  const float* kh = k + (b * sh.key_value_heads + kvh) * nk * HD;
  const float* vh = v + (b * sh.key_value_heads + kvh) * nk * HD;

  int part = threadIdx.x % TPQ;
  int i = blockIdx.x * BQ + threadIdx.x / TPQ;
  float qr[PER], acc[PER];
  for (int d = 0; d < PER; d++) {
    qr[d] = i < nq ? qh[i * HD + part * PER + d] : 0.f;
    acc[d] = 0.f;
  }
  int last = sh.causal ? i + nk - nq : nk - 1;
  int first = sh.causal && sh.window > 0 ? last - sh.window + 1 : 0;
  float m = -INFINITY, l = 0.f;
  for (int k0 = 0; k0 < nk; k0 += BK) {
    for (int e = threadIdx.x; e < BK * HD; e += BQ * TPQ) {
      int inside = k0 + e / HD < nk;
      ks[e / HD][e % HD] = inside ? kh[k0 * HD + e] : 0.f;
      vs[e / HD][e % HD] = inside ? vh[k0 * HD + e] : 0.f;
    }
    __syncthreads();
    for (int j = 0; j < BK; j++) {
      float dot = 0.f;
      for (int d = 0; d < PER; d++) dot += qr[d] * ks[j][part * PER + d];
      dot += __shfl_xor_sync(0xffffffff, dot, 1);
      dot += __shfl_xor_sync(0xffffffff, dot, 2);
      int key = k0 + j;
      if (key < first || key > last || key >= nk) continue;
      float score = dot * sh.scale;
      float mn = fmaxf(m, score);
      float old = expf(m - mn), now = expf(score - mn);
      l = l * old + now;
      for (int d = 0; d < PER; d++) acc[d] = acc[d] * old + now * vs[j][part * PER + d];
      m = mn;
    }
    __syncthreads();
  }
  if (i >= nq) return;
  for (int d = 0; d < PER; d++) oh[i * HD + part * PER + d] = l > 0.f ? acc[d] / l : 0.f;
  if (part == 0) lh[i] = l > 0.f ? m + logf(l) : -INFINITY;
}

void flash_grouped(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   const AttentionShape& shape) {
  dim3 grid((shape.query_length + BQ - 1) / BQ, shape.query_heads, shape.batch);
  grouped<<<grid, BQ * TPQ>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
