#include "attention_steps.h"

#include "toolkit/check.h"

namespace {

constexpr int kThreads = 128;

// A block has a row of scores: one token of one head, whose query it keeps in shared memory.
__global__ void row_of_scores(const float* q, const float* keys, float* scores, PromptShape shape) {
  __shared__ float query[256];
  const int token = blockIdx.x, head = blockIdx.y;
  const float* mine = q + (token * shape.query_heads + head) * shape.head_dim;
  for (int d = threadIdx.x; d < shape.head_dim; d += kThreads) query[d] = mine[d];
  __syncthreads();

  const int sharing = shape.query_heads / shape.key_value_heads;
  const float* my_keys = keys + head / sharing * shape.length * shape.head_dim;
  const int first = shape.window > 0 ? max(0, token - shape.window + 1) : 0;
  float* row = scores + (head * shape.length + token) * shape.length;
  for (int j = threadIdx.x; j < shape.length; j += kThreads) {
    float score = -INFINITY;
    if (j >= first && j <= token) {
      const float* key = my_keys + j * shape.head_dim;
      float dot = 0.0f;
      for (int d = 0; d < shape.head_dim; ++d) dot += query[d] * key[d];
      score = shape.scale * dot;
    }
    row[j] = score;
  }
}

}  // namespace

void attention_scores(const float* q, const float* keys, float* scores, const PromptShape& shape) {
  row_of_scores<<<dim3(shape.length, shape.query_heads), kThreads>>>(q, keys, scores, shape);
  CUDA_CHECK(cudaGetLastError());
}
