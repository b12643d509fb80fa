#include <math.h>

#include "flash_grouped.h"

#include "toolkit/check.h"
#include "warp.h"

#define LANES 32
#define WARPS 4 /* of a block: each has one query */
#define DIM 64

/* Where one head of one sequence lies in the arrays. */
struct place {
  int query_row; /* its first row in q, out and log_sum_exp */
  int key_row;   /* its first row in k and v */
};

__device__ static struct place find_place(struct AttentionShape s) {
  int b = blockIdx.z;
  int h = blockIdx.y;
  int group = s.query_heads / s.key_value_heads;
  struct place p;
  p.query_row = (b * s.query_heads + h) * s.query_length;
  p.key_row = (b * s.key_value_heads + h / group) * s.key_length;
  return p;
}

__device__ static bool is_visible(int i, int j, struct AttentionShape s) {
  if (j >= s.key_length) return false;
  if (!s.causal) return true;
  int own = i + s.key_length - s.query_length;
  if (j > own) return false;
  return s.window == 0 || j > own - s.window;
}

__device__ static void load_tile(float (*tile)[DIM + 1], const float* from, int row0, int rows) {
  int e;
  for (e = threadIdx.x; e < LANES * DIM; e += LANES * WARPS) {
    int r = row0 + e / DIM;
    tile[e / DIM][e % DIM] = r < rows ? from[r * DIM + e % DIM] : 0.0f;
  }
}

__global__ void grouped_kernel(const float* q, const float* k, const float* v, float* out,
                               float* log_sum_exp, struct AttentionShape s) {
  __shared__ float queries[WARPS][DIM];
  __shared__ float keys[LANES][DIM + 1];
  __shared__ float values[LANES][DIM + 1];
  int lane = threadIdx.x % LANES;
  int warp = threadIdx.x / LANES;
  int i = blockIdx.x * WARPS + warp;
  struct place p = find_place(s);
  float largest = -INFINITY;
  float sum = 0.0f;
  float left = 0.0f;  /* element `lane` of the result */
  float right = 0.0f; /* element `lane + 32` */
  int k0, j, d;

  if (i < s.query_length) {
    queries[warp][lane] = q[(p.query_row + i) * DIM + lane];
    queries[warp][lane + LANES] = q[(p.query_row + i) * DIM + lane + LANES];
  } else {
    queries[warp][lane] = 0.0f;
    queries[warp][lane + LANES] = 0.0f;
  }

  for (k0 = 0; k0 < s.key_length; k0 += LANES) {
    load_tile(keys, k + p.key_row * DIM, k0, s.key_length);
    load_tile(values, v + p.key_row * DIM, k0, s.key_length);
    __syncthreads();

    float score = -INFINITY;
    if (is_visible(i, k0 + lane, s)) {
      float dot = 0.0f;
      for (d = 0; d < DIM; d++) dot += queries[warp][d] * keys[lane][d];
      score = dot * s.scale;
    }
    float now = fmaxf(largest, warp_max(score));
    if (now > -INFINITY) {
      float weight = expf(score - now);
      float shrink = expf(largest - now);
      sum = sum * shrink + warp_sum(weight);
      left *= shrink;
      right *= shrink;
      for (j = 0; j < LANES; j++) {
        float w = __shfl_sync(0xffffffff, weight, j);
        left += w * values[j][lane];
        right += w * values[j][lane + LANES];
      }
      largest = now;
    }
    __syncthreads();
  }

  if (i >= s.query_length) return;
  float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
  float* row = out + (p.query_row + i) * DIM;
  row[lane] = left * inverse;
  row[lane + LANES] = right * inverse;
  if (lane == 0) log_sum_exp[p.query_row + i] = sum > 0.0f ? largest + logf(sum) : -INFINITY;
}

void flash_grouped(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   const AttentionShape& shape) {
  dim3 grid((shape.query_length + WARPS - 1) / WARPS, shape.query_heads, shape.batch);
  grouped_kernel<<<grid, WARPS * LANES>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
