#include "attention_steps.h"

#include <math_constants.h>

#include "toolkit/check.h"

// grid: (tokens, heads); the threads of a block stride over the keys
__global__ void scores_kernel(const float* q, const float* keys, float* scores, PromptShape s) {
  int i = blockIdx.x;
  int h = blockIdx.y;
  int kvh = h / (s.query_heads / s.key_value_heads);
  const float* query = q + (i * s.query_heads + h) * s.head_dim;
  float* row = scores + (h * s.length + i) * s.length;
  int first = s.window > 0 ? max(0, i - s.window + 1) : 0;
  for (int j = threadIdx.x; j < s.length; j += blockDim.x) {
    float value = -CUDART_INF_F;
    if (j >= first && j <= i) {
      const float* key = keys + (kvh * s.length + j) * s.head_dim;
      float dot = 0.0f;
      for (int d = 0; d < s.head_dim; d++) dot += query[d] * key[d];
      value = s.scale * dot;
    }
    row[j] = value;
  }
}

void attention_scores(const float* q, const float* keys, float* scores, const PromptShape& shape) {
  dim3 grid(shape.length, shape.query_heads);
  scores_kernel<<<grid, 64>>>(q, keys, scores, shape);
  CUDA_CHECK(cudaGetLastError());
}
