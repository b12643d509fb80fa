#include "flash_scores.h"

#include "toolkit/check.h"

#define BR 32
#define BC 32
#define HD 64
#define PAD 1
#define NT 256

__global__ void scoresKernel(const float* Q, const float* K, float* S, float scale) {
  __shared__ float Qs[BR][HD + PAD];
  __shared__ float Ks[BC][HD + PAD];

  for (int i = threadIdx.x; i < BR * HD; i += NT) Qs[i / HD][i % HD] = Q[i];
  for (int i = threadIdx.x; i < BC * HD; i += NT) Ks[i / HD][i % HD] = K[i];
  __syncthreads();

  for (int i = threadIdx.x; i < BR * BC; i += NT) {
    const int r = i / BC, c = i % BC;
    float dot = 0.f;
    for (int d = 0; d < HD; d++) dot += Qs[r][d] * Ks[c][d];
    S[i] = scale * dot;
  }
}

void flash_scores(const float* q, const float* k, float* scores, float scale) {
  scoresKernel<<<1, NT>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
