#include <math.h>

#include "flash_softmax.h"

#include "toolkit/check.h"

#define ROWS 32 /* queries of a block, and keys */
#define DIM 64
#define THREADS 128

struct tile {
  float at[ROWS][DIM + 1];
};

struct score_tile {
  float at[ROWS][ROWS + 1];
};

__device__ static void fill_tile(struct tile* t, const float* from) {
  int e;
  for (e = threadIdx.x; e < ROWS * DIM; e += THREADS) {
    t->at[e / DIM][e % DIM] = from[e];
  }
}

__device__ static void multiply(struct score_tile* s, const struct tile* q, const struct tile* k,
                                float scale) {
  int e, d;
  for (e = threadIdx.x; e < ROWS * ROWS; e += THREADS) {
    int i = e / ROWS;
    int j = e % ROWS;
    float dot = 0.0f;
    for (d = 0; d < DIM; d++) dot += q->at[i][d] * k->at[j][d];
    s->at[i][j] = dot * scale;
  }
}

/* Turns one row of scores into weights, and returns its log-sum-exp. */
__device__ static float softmax_in_place(float* row) {
  float largest = row[0];
  float sum = 0.0f;
  int j;
  for (j = 1; j < ROWS; j++) largest = fmaxf(largest, row[j]);
  for (j = 0; j < ROWS; j++) {
    row[j] = expf(row[j] - largest);
    sum += row[j];
  }
  for (j = 0; j < ROWS; j++) row[j] /= sum;
  return largest + logf(sum);
}

__global__ void softmax_kernel(const float* q, const float* k, const float* v, float* out,
                               float* log_sum_exp, float scale) {
  __shared__ struct tile queries;
  __shared__ struct tile keys;
  __shared__ struct tile values;
  __shared__ struct score_tile scores;
  int first = blockIdx.x * ROWS;
  int me = threadIdx.x;
  int e, j;

  fill_tile(&queries, q + first * DIM);
  fill_tile(&keys, k);
  fill_tile(&values, v);
  __syncthreads();
  multiply(&scores, &queries, &keys, scale);
  __syncthreads();
  if (me < ROWS) log_sum_exp[first + me] = softmax_in_place(scores.at[me]);
  __syncthreads();

  for (e = me; e < ROWS * DIM; e += THREADS) {
    int i = e / DIM;
    int d = e % DIM;
    float acc = 0.0f;
    for (j = 0; j < ROWS; j++) acc += scores.at[i][j] * values.at[j][d];
    out[first * DIM + e] = acc;
  }
}

void flash_softmax(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   int query_length, float scale) {
  int blocks = query_length / ROWS;
  softmax_kernel<<<blocks, THREADS>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}
