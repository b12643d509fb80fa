#include <math.h>

#include "attention_steps.h"

#include "toolkit/check.h"

#define COLUMNS 32
#define ROWS 4

/* Whether token i may look at key j. */
__device__ static bool sees(int i, int j, int window) {
  if (j > i) return false;
  if (window == 0) return true;
  return i - j < window;
}

__global__ void scores_kernel(const float* q, const float* keys, float* scores,
                              struct PromptShape s) {
  int j = blockIdx.x * COLUMNS + threadIdx.x;
  int i = blockIdx.y * ROWS + threadIdx.y;
  int h = blockIdx.z;
  if (i >= s.length || j >= s.length) return;

  size_t at = ((size_t)h * s.length + i) * s.length + j;
  if (!sees(i, j, s.window)) {
    scores[at] = -INFINITY;
    return;
  }

  int group = s.query_heads / s.key_value_heads;
  int kv = h / group;
  const float* query = q + ((size_t)i * s.query_heads + h) * s.head_dim;
  const float* key = keys + ((size_t)kv * s.length + j) * s.head_dim;
  float dot = 0.0f;
  int d;
  for (d = 0; d < s.head_dim; d++) dot += query[d] * key[d];
  scores[at] = s.scale * dot;
}

void attention_scores(const float* q, const float* keys, float* scores, const PromptShape& shape) {
  dim3 block(COLUMNS, ROWS);
  dim3 grid((shape.length + COLUMNS - 1) / COLUMNS, (shape.length + ROWS - 1) / ROWS,
            shape.query_heads);
  scores_kernel<<<grid, block>>>(q, keys, scores, shape);
  CUDA_CHECK(cudaGetLastError());
}
