#include <math.h>

#include "flash_online.h"

#include "toolkit/check.h"

#define QROWS 16
#define KROWS 32
#define DIM 64
#define THREADS 128
#define MINE (QROWS * DIM / THREADS) /* elements of out that a thread sums up */

/* What is known of each query of the block so far. */
struct row_state {
  float largest[QROWS];
  float sum[QROWS];
  float shrink[QROWS]; /* by this the last tile scales what was summed up before */
};

__device__ static void load_rows(float (*tile)[DIM + 1], const float* from, int rows) {
  int e;
  for (e = threadIdx.x; e < rows * DIM; e += THREADS) {
    tile[e / DIM][e % DIM] = from[e];
  }
}

/* Takes one row of scores in: weights take their place. */
__device__ static void update_row(struct row_state* state, int i, float* row) {
  float before = state->largest[i];
  float largest = before;
  float sum = 0.0f;
  int j;
  for (j = 0; j < KROWS; j++) largest = fmaxf(largest, row[j]);
  for (j = 0; j < KROWS; j++) {
    row[j] = expf(row[j] - largest);
    sum += row[j];
  }
  float shrink = expf(before - largest);
  state->largest[i] = largest;
  state->sum[i] = state->sum[i] * shrink + sum;
  state->shrink[i] = shrink;
}

__global__ void online_kernel(const float* q, const float* k, const float* v, float* out,
                              float* log_sum_exp, int key_length, float scale) {
  __shared__ float queries[QROWS][DIM + 1];
  __shared__ float keys[KROWS][DIM + 1];
  __shared__ float values[KROWS][DIM + 1];
  __shared__ float scores[QROWS][KROWS + 1];
  __shared__ struct row_state state;
  float acc[MINE] = {};
  int me = threadIdx.x;
  int first = blockIdx.x * QROWS;
  int k0, e, j, d, n;

  load_rows(queries, q + first * DIM, QROWS);
  if (me < QROWS) {
    state.largest[me] = -INFINITY;
    state.sum[me] = 0.0f;
  }

  for (k0 = 0; k0 < key_length; k0 += KROWS) {
    load_rows(keys, k + k0 * DIM, KROWS);
    load_rows(values, v + k0 * DIM, KROWS);
    __syncthreads();

    for (e = me; e < QROWS * KROWS; e += THREADS) {
      float dot = 0.0f;
      for (d = 0; d < DIM; d++) dot += queries[e / KROWS][d] * keys[e % KROWS][d];
      scores[e / KROWS][e % KROWS] = scale * dot;
    }
    __syncthreads();

    if (me < QROWS) update_row(&state, me, scores[me]);
    __syncthreads();

    for (n = 0; n < MINE; n++) {
      int i = (me + n * THREADS) / DIM;
      int column = (me + n * THREADS) % DIM;
      acc[n] *= state.shrink[i];
      for (j = 0; j < KROWS; j++) acc[n] += scores[i][j] * values[j][column];
    }
    __syncthreads();
  }

  for (n = 0; n < MINE; n++) {
    int at = me + n * THREADS;
    out[first * DIM + at] = acc[n] / state.sum[at / DIM];
  }
  if (me < QROWS) log_sum_exp[first + me] = state.largest[me] + logf(state.sum[me]);
}

void flash_online(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  int blocks = shape.query_length / QROWS;
  online_kernel<<<blocks, THREADS>>>(q, k, v, out, log_sum_exp, shape.key_length, shape.scale);
  CUDA_CHECK(cudaGetLastError());
}
