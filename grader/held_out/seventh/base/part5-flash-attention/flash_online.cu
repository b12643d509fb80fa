#include "flash_online.h"

#include <cmath>

#include "toolkit/check.h"

#define BR 32
#define BC 32
#define HD 64

// one thread per query, as in "flash-attention-minimal"
__global__ void flashMinimal(const float* Q, const float* K, const float* V, float* O, float* lse,
                             int nk, float scale) {
  __shared__ float Kj[BC][HD];
  __shared__ float Vj[BC][HD];
  __shared__ float S[BR][BC + 1];

  const int t = threadIdx.x;
  const int row = blockIdx.x * BR + t;
  float q[HD], o[HD];
#pragma unroll
  for (int d = 0; d < HD; d++) {
    q[d] = Q[row * HD + d];
    o[d] = 0.f;
  }
  float m = -INFINITY, l = 0.f;

  const int Tc = nk / BC;
  for (int j = 0; j < Tc; j++) {
    // load K_j, V_j
    for (int i = t; i < BC * HD; i += BR) {
      Kj[i / HD][i % HD] = K[j * BC * HD + i];
      Vj[i / HD][i % HD] = V[j * BC * HD + i];
    }
    __syncthreads();

    // S = QK^T, row max
    float mj = -INFINITY;
    for (int c = 0; c < BC; c++) {
      float s = 0.f;
#pragma unroll
      for (int d = 0; d < HD; d++) s += q[d] * Kj[c][d];
      s *= scale;
      S[t][c] = s;
      mj = fmaxf(mj, s);
    }

    // P = exp(S - m), row sum
    const float mNew = fmaxf(m, mj);
    const float alpha = expf(m - mNew);
    float lj = 0.f;
    for (int c = 0; c < BC; c++) {
      S[t][c] = expf(S[t][c] - mNew);
      lj += S[t][c];
    }
    l = alpha * l + lj;

    // O = alpha * O + PV
#pragma unroll
    for (int d = 0; d < HD; d++) {
      float pv = 0.f;
      for (int c = 0; c < BC; c++) pv += S[t][c] * Vj[c][d];
      o[d] = alpha * o[d] + pv;
    }
    m = mNew;
    __syncthreads();
  }

#pragma unroll
  for (int d = 0; d < HD; d++) O[row * HD + d] = o[d] / l;
  lse[row] = m + logf(l);
}

void flash_online(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  flashMinimal<<<shape.query_length / BR, BR>>>(q, k, v, out, log_sum_exp, shape.key_length,
                                                shape.scale);
  CUDA_CHECK(cudaGetLastError());
}
