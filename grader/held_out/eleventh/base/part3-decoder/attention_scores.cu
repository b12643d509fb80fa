#include "attention_steps.h"

#include <cmath>
#include <cstdint>

#include "toolkit/check.h"

namespace {

// A block makes one row: the scores of token blockIdx.x in head blockIdx.y.
__global__ void score_row(const float* q, const float* keys, float* scores, PromptShape shape) {
  const int token = blockIdx.x;
  const int head = blockIdx.y;
  const int sharing = shape.query_heads / shape.key_value_heads;
  const int key_head = head / sharing;
  const int oldest = shape.window == 0 ? 0 : max(0, token - shape.window + 1);
  const float* query = q + (static_cast<std::int64_t>(token) * shape.query_heads + head) * shape.head_dim;
  const float* head_keys = keys + static_cast<std::int64_t>(key_head) * shape.length * shape.head_dim;
  float* row = scores + (static_cast<std::int64_t>(head) * shape.length + token) * shape.length;
  for (int j = threadIdx.x; j < shape.length; j += blockDim.x) {
    if (j < oldest || j > token) {
      row[j] = -INFINITY;
      continue;
    }
    const float* key = head_keys + static_cast<std::int64_t>(j) * shape.head_dim;
    float dot = 0.0f;
    for (int d = 0; d < shape.head_dim; ++d) dot += query[d] * key[d];
    row[j] = dot * shape.scale;
  }
}

}  // namespace

void attention_scores(const float* q, const float* keys, float* scores, const PromptShape& shape) {
  score_row<<<dim3(shape.length, shape.query_heads), 64>>>(q, keys, scores, shape);
  CUDA_CHECK(cudaGetLastError());
}
