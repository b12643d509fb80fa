#include <cmath>
#include <cstdint>

#include "attention_steps.h"
#include "toolkit/check.h"

// x runs over the keys, y over the tokens, z over the query heads.
__global__ void score_all(const float* q, const float* keys, float* scores, PromptShape p) {
  const int key = blockIdx.x * blockDim.x + threadIdx.x;
  const int token = blockIdx.y * blockDim.y + threadIdx.y;
  const int head = blockIdx.z;
  if (key >= p.length || token >= p.length) return;

  const int sharing = p.query_heads / p.key_value_heads;
  const int key_head = head / sharing;
  const bool in_past = key <= token;
  const bool in_window = p.window == 0 || token - key < p.window;

  float score = -INFINITY;
  if (in_past && in_window) {
    const float* query = q + (static_cast<std::int64_t>(token) * p.query_heads + head) * p.head_dim;
    const float* other = keys + (static_cast<std::int64_t>(key_head) * p.length + key) * p.head_dim;
    float dot = 0.0f;
    for (int d = 0; d < p.head_dim; ++d) dot += query[d] * other[d];
    score = p.scale * dot;
  }
  scores[(static_cast<std::int64_t>(head) * p.length + token) * p.length + key] = score;
}

void attention_scores(const float* q, const float* keys, float* scores, const PromptShape& shape) {
  const dim3 block(32, 4);
  const dim3 grid((shape.length + 31) / 32, (shape.length + 3) / 4, shape.query_heads);
  score_all<<<grid, block>>>(q, keys, scores, shape);
  CUDA_CHECK(cudaGetLastError());
}
