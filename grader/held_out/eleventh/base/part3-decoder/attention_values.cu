#include "attention_steps.h"

#include <cstdint>

#include "toolkit/check.h"

namespace {

// A block makes all heads of one token.
__global__ void mix_values(const float* weights, const float* values, float* out,
                           PromptShape shape) {
  const int token = blockIdx.x;
  const int elements = shape.query_heads * shape.head_dim;
  const int sharing = shape.query_heads / shape.key_value_heads;
  for (int e = threadIdx.x; e < elements; e += blockDim.x) {
    const int head = e / shape.head_dim;
    const int d = e % shape.head_dim;
    const int value_head = head / sharing;
    const float* row = weights + (static_cast<std::int64_t>(head) * shape.length + token) * shape.length;
    const float* value = values + static_cast<std::int64_t>(value_head) * shape.length * shape.head_dim + d;
    float mixed = 0.0f;
    for (int j = 0; j <= token; ++j) mixed += row[j] * value[static_cast<std::int64_t>(j) * shape.head_dim];
    out[static_cast<std::int64_t>(token) * elements + e] = mixed;
  }
}

}  // namespace

void attention_values(const float* weights, const float* values, float* out,
                      const PromptShape& shape) {
  mix_values<<<shape.length, 96>>>(weights, values, out, shape);
  CUDA_CHECK(cudaGetLastError());
}
