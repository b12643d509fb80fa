#include "attention_steps.h"

#include <cmath>

#include "toolkit/check.h"

#define BS 16
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define Q_IDX(i, h, d) (((size_t)(i) * s.query_heads + (h)) * s.head_dim + (d))
#define K_IDX(g, j, d) (((size_t)(g) * s.length + (j)) * s.head_dim + (d))

__global__ void qkKernel(const float* q, const float* k, float* out, PromptShape s) {
  const int j = blockIdx.x * BS + threadIdx.x;  // key
  const int i = blockIdx.y * BS + threadIdx.y;  // query
  const int h = blockIdx.z;
  if (i >= s.length || j >= s.length) return;

  const int g = h / (s.query_heads / s.key_value_heads);
  const bool future = j > i;
  const bool tooOld = s.window > 0 && j <= i - s.window;

  float r = -INFINITY;
  if (!future && !tooOld) {
    float dot = 0.f;
    for (int d = 0; d < s.head_dim; d++) dot += q[Q_IDX(i, h, d)] * k[K_IDX(g, j, d)];
    r = dot * s.scale;
  }
  out[((size_t)h * s.length + i) * s.length + j] = r;
}

void attention_scores(const float* q, const float* keys, float* scores, const PromptShape& shape) {
  dim3 block(BS, BS);
  dim3 grid(CEIL_DIV(shape.length, BS), CEIL_DIV(shape.length, BS), shape.query_heads);
  qkKernel<<<grid, block>>>(q, keys, scores, shape);
  CUDA_CHECK(cudaGetLastError());
}
