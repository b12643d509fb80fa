#include <math.h>

#include "flash_masked.h"

#include "toolkit/check.h"

#define ROWS 32 /* of queries and of keys */
#define DIM 64
#define THREADS 128
#define MINE (ROWS * DIM / THREADS)

/* Keys first ... last that a query sees; none when last < first. */
struct key_range {
  int first;
  int last;
};

__device__ static struct key_range keys_of(int i, struct AttentionShape s) {
  struct key_range r = {0, s.key_length - 1};
  if (!s.causal) return r;
  r.last = i + s.key_length - s.query_length;
  if (s.window > 0) r.first = max(0, r.last - s.window + 1);
  return r;
}

/* Rows row0, row0 + 1, ... of a matrix; zeros behind its last row. */
__device__ static void load_rows(float (*tile)[DIM + 1], const float* from, int row0, int rows) {
  int e;
  for (e = threadIdx.x; e < ROWS * DIM; e += THREADS) {
    int r = row0 + e / DIM;
    float value = 0.0f;
    if (r < rows) value = from[r * DIM + e % DIM];
    tile[e / DIM][e % DIM] = value;
  }
}

__global__ void masked_kernel(const float* q, const float* k, const float* v, float* out,
                              float* log_sum_exp, struct AttentionShape s) {
  __shared__ float queries[ROWS][DIM + 1];
  __shared__ float keys[ROWS][DIM + 1]; /* then the values of the same tile */
  __shared__ float scores[ROWS][ROWS + 1];
  __shared__ float largest[ROWS], sum[ROWS], shrink[ROWS];
  float acc[MINE] = {};
  int me = threadIdx.x;
  int q0 = blockIdx.x * ROWS;
  int k0, e, j, d, n;

  load_rows(queries, q, q0, s.query_length);
  if (me < ROWS) {
    largest[me] = -INFINITY;
    sum[me] = 0.0f;
  }

  for (k0 = 0; k0 < s.key_length; k0 += ROWS) {
    load_rows(keys, k, k0, s.key_length);
    __syncthreads();
    for (e = me; e < ROWS * ROWS; e += THREADS) {
      int i = e / ROWS;
      struct key_range seen = keys_of(q0 + i, s);
      j = e % ROWS;
      float dot = 0.0f;
      for (d = 0; d < DIM; d++) dot += queries[i][d] * keys[j][d];
      bool visible = k0 + j >= seen.first && k0 + j <= seen.last;
      scores[i][j] = visible ? s.scale * dot : -INFINITY;
    }
    __syncthreads();

    load_rows(keys, v, k0, s.key_length);
    if (me < ROWS) {
      float before = largest[me];
      float now = before;
      float of_tile = 0.0f;
      for (j = 0; j < ROWS; j++) now = fmaxf(now, scores[me][j]);
      float base = now == -INFINITY ? 0.0f : now; /* nothing seen yet */
      for (j = 0; j < ROWS; j++) {
        float weight = expf(scores[me][j] - base);
        scores[me][j] = weight;
        of_tile += weight;
      }
      shrink[me] = expf(before - base);
      sum[me] = sum[me] * shrink[me] + of_tile;
      largest[me] = now;
    }
    __syncthreads();

    for (n = 0; n < MINE; n++) {
      int at = me + n * THREADS;
      float add = 0.0f;
      for (j = 0; j < ROWS; j++) add += scores[at / DIM][j] * keys[j][at % DIM];
      acc[n] = acc[n] * shrink[at / DIM] + add;
    }
    __syncthreads();
  }

  for (n = 0; n < MINE; n++) {
    int at = me + n * THREADS;
    int i = at / DIM;
    if (q0 + i >= s.query_length) continue;
    float total = sum[i];
    out[q0 * DIM + at] = total > 0.0f ? acc[n] / total : 0.0f;
  }
  if (me >= ROWS || q0 + me >= s.query_length) return;
  log_sum_exp[q0 + me] = sum[me] > 0.0f ? largest[me] + logf(sum[me]) : -INFINITY;
}

void flash_masked(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  int blocks = (shape.query_length + ROWS - 1) / ROWS;
  masked_kernel<<<blocks, THREADS>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
