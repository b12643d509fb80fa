#include "attention_steps.h"

#include "toolkit/check.h"

namespace {

// A block for a token of a head; its threads stride over the keys.
__global__ void score_row(const float* q, const float* keys, float* scores, PromptShape shape) {
  const int i = blockIdx.x, head = blockIdx.y;
  const int key_head = head / (shape.query_heads / shape.key_value_heads);
  const auto* query = reinterpret_cast<const float4*>(
      q + (static_cast<size_t>(i) * shape.query_heads + head) * shape.head_dim);
  float* row = scores + (static_cast<size_t>(head) * shape.length + i) * shape.length;
  const int oldest = shape.window > 0 ? max(i - shape.window + 1, 0) : 0;
  for (int j = threadIdx.x; j < shape.length; j += blockDim.x) {
    if (j < oldest || j > i) {
      row[j] = -INFINITY;
      continue;
    }
    const auto* key = reinterpret_cast<const float4*>(
        keys + (static_cast<size_t>(key_head) * shape.length + j) * shape.head_dim);
    float dot = 0.0f;
    for (int d = 0; d < shape.head_dim / 4; ++d) {
      const float4 a = query[d], b = key[d];
      dot += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    row[j] = shape.scale * dot;
  }
}

}  // namespace

void attention_scores(const float* q, const float* keys, float* scores, const PromptShape& shape) {
  score_row<<<dim3(shape.length, shape.query_heads), 64>>>(q, keys, scores, shape);
  CUDA_CHECK(cudaGetLastError());
}
