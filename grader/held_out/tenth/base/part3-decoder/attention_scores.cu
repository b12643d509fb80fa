#include "attention_steps.h"

#include "toolkit/check.h"

// x: key, y: token, z: query head
__global__ void all_scores(const float* q, const float* keys, float* scores, PromptShape s) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int h = blockIdx.z;
  if (i >= s.length || j >= s.length) return;
  int oldest = 0;
  if (s.window > 0) oldest = max(0, i - s.window + 1);
  float score = -INFINITY;
  if (j >= oldest && j <= i) {
    int group = s.query_heads / s.key_value_heads;
    const float* qv = q + (i * s.query_heads + h) * s.head_dim;
    const float* kv = keys + ((h / group) * s.length + j) * s.head_dim;
    float dot = 0;
    for (int d = 0; d < s.head_dim; d++) dot += qv[d] * kv[d];
    score = dot * s.scale;
  }
  scores[(static_cast<long>(h) * s.length + i) * s.length + j] = score;
}

void attention_scores(const float* q, const float* keys, float* scores, const PromptShape& shape) {
  dim3 block(32, 4);
  dim3 grid((shape.length + block.x - 1) / block.x, (shape.length + block.y - 1) / block.y,
            shape.query_heads);
  all_scores<<<grid, block>>>(q, keys, scores, shape);
  CUDA_CHECK(cudaGetLastError());
}
