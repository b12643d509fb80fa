#include "flash_scores.h"

#include "common.cuh"
#include "toolkit/check.h"

#define N 32
#define D 64

// 256 threads; each has four scores of one query, eight keys apart.
__global__ void k_scores(const float* q, const float* k, float* s, float scale) {
  __shared__ float sq[N][D + 1];
  __shared__ float sk[N][D + 1];
  int t = threadIdx.x;
  for (int e = t; e < N * D; e += 256) {
    sq[e / D][e % D] = q[e];
    sk[e / D][e % D] = k[e];
  }
  __syncthreads();
  int i = t / 8;
  for (int j = t % 8; j < N; j += 8) {
    float dot = 0.f;
    for (int d = 0; d < D; d++) dot += sq[i][d] * sk[j][d];
    s[i * N + j] = dot * scale;
  }
}

void flash_scores(const float* q, const float* k, float* scores, float scale) {
  k_scores<<<1, 256>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
