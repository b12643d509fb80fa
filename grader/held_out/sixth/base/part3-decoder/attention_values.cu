#include "attention_steps.h"

#include "toolkit/check.h"

#define THREADS 128

__global__ void values_kernel(const float* weights, const float* values, float* out,
                              struct PromptShape s) {
  int i = blockIdx.x; /* the token */
  int h = blockIdx.y; /* the query head */
  int kv = h / (s.query_heads / s.key_value_heads);
  const float* row = weights + ((size_t)h * s.length + i) * s.length;
  const float* head = values + (size_t)kv * s.length * s.head_dim;
  float* result = out + ((size_t)i * s.query_heads + h) * s.head_dim;
  int d, j;

  for (d = threadIdx.x; d < s.head_dim; d += THREADS) {
    float acc = 0.0f;
    for (j = 0; j <= i; j++) {
      acc += row[j] * head[(size_t)j * s.head_dim + d];
    }
    result[d] = acc;
  }
}

void attention_values(const float* weights, const float* values, float* out,
                      const PromptShape& shape) {
  dim3 grid(shape.length, shape.query_heads);
  values_kernel<<<grid, THREADS>>>(weights, values, out, shape);
  CUDA_CHECK(cudaGetLastError());
}
