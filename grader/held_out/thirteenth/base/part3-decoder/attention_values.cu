#include "attention_steps.h"

#include "toolkit/check.h"

namespace {

constexpr int kThreads = 128;

// Every element of out is a number: of which token, which head, which place.
__global__ void weigh(const float* weights, const float* values, float* out, PromptShape shape,
                      int elements) {
  const int element = blockIdx.x * kThreads + threadIdx.x;
  if (element >= elements) return;
  const int d = element % shape.head_dim;
  const int head = element / shape.head_dim % shape.query_heads;
  const int token = element / shape.head_dim / shape.query_heads;

  const int value_head = head / (shape.query_heads / shape.key_value_heads);
  const float* weight = weights + (head * shape.length + token) * shape.length;
  const float* value = values + value_head * shape.length * shape.head_dim + d;
  float sum = 0.0f;
  for (int j = 0; j <= token; ++j, value += shape.head_dim) sum += weight[j] * *value;
  out[element] = sum;
}

}  // namespace

void attention_values(const float* weights, const float* values, float* out,
                      const PromptShape& shape) {
  const int elements = shape.length * shape.query_heads * shape.head_dim;
  weigh<<<(elements + kThreads - 1) / kThreads, kThreads>>>(weights, values, out, shape, elements);
  CUDA_CHECK(cudaGetLastError());
}
