#include "attention_steps.h"

#include "toolkit/check.h"

// One block for a token and a head, one thread for each element there.
__global__ void mix_values(const float* weights, const float* values, float* out, int length,
                           int query_heads, int group, int head_dim) {
  const int i = blockIdx.x;
  const int h = blockIdx.y;
  const int d = threadIdx.x;
  const float* w = weights + (h * length + i) * length;
  const float* v = values + (h / group) * length * head_dim;
  float result = 0.0f;
  for (int j = 0; j < length; ++j) result += w[j] * v[j * head_dim + d];
  out[(i * query_heads + h) * head_dim + d] = result;
}

void attention_values(const float* weights, const float* values, float* out,
                      const PromptShape& shape) {
  const dim3 grid(shape.length, shape.query_heads);
  const int group = shape.query_heads / shape.key_value_heads;
  mix_values<<<grid, shape.head_dim>>>(weights, values, out, shape.length, shape.query_heads, group,
                                       shape.head_dim);
  CUDA_CHECK(cudaGetLastError());
}
