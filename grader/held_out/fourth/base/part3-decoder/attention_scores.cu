#include "attention_steps.h"

#include <math_constants.h>

#include "toolkit/check.h"

namespace {

// A block for each token and head; its threads stride over all keys.
__global__ void score_token(const float* q, const float* keys, float* scores, PromptShape shape) {
  const int token = blockIdx.x;
  const int head = blockIdx.y;
  const int sharing = shape.query_heads / shape.key_value_heads;
  const float* query = q + (token * shape.query_heads + head) * shape.head_dim;
  const float* of_head = keys + head / sharing * shape.length * shape.head_dim;
  float* row = scores + (head * shape.length + token) * shape.length;
  const int oldest = shape.window > 0 ? token - shape.window + 1 : 0;

  for (int key = threadIdx.x; key < shape.length; key += blockDim.x) {
    float result = -CUDART_INF_F;
    if (key >= oldest && key <= token) {
      result = 0.0f;
      for (int d = 0; d < shape.head_dim; ++d)
        result += query[d] * of_head[key * shape.head_dim + d];
      result *= shape.scale;
    }
    row[key] = result;
  }
}

}  // namespace

void attention_scores(const float* q, const float* keys, float* scores, const PromptShape& shape) {
  score_token<<<dim3(shape.length, shape.query_heads), 64>>>(q, keys, scores, shape);
  CUDA_CHECK(cudaGetLastError());
}
