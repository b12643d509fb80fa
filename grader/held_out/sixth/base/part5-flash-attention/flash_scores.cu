#include "flash_scores.h"

#include "toolkit/check.h"

#define ROWS 32
#define DIM 64
#define THREADS 256

struct tile {
  float at[ROWS][DIM + 1]; /* one more, so that a column lies in 32 banks */
};

__device__ static void fill_tile(struct tile* t, const float* from) {
  int e;
  for (e = threadIdx.x; e < ROWS * DIM; e += THREADS) {
    t->at[e / DIM][e % DIM] = from[e];
  }
}

__device__ static float dot_of_rows(const float* a, const float* b) {
  float acc = 0.0f;
  int d;
  for (d = 0; d < DIM; d++) acc += a[d] * b[d];
  return acc;
}

__global__ void scores_kernel(const float* q, const float* k, float* scores, float scale) {
  __shared__ struct tile queries;
  __shared__ struct tile keys;
  int e;

  fill_tile(&queries, q);
  fill_tile(&keys, k);
  __syncthreads();

  for (e = threadIdx.x; e < ROWS * ROWS; e += THREADS) {
    int i = e / ROWS;
    int j = e % ROWS;
    scores[i * ROWS + j] = scale * dot_of_rows(queries.at[i], keys.at[j]);
  }
}

void flash_scores(const float* q, const float* k, float* scores, float scale) {
  scores_kernel<<<1, THREADS>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}
