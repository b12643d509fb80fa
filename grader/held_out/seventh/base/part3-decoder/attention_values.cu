#include "attention_steps.h"

#include "toolkit/check.h"

// block = (query, head), thread = element of the head
__global__ void pvKernel(const float* w, const float* v, float* out, PromptShape s) {
  const int i = blockIdx.x;
  const int h = blockIdx.y;
  const int d = threadIdx.x;
  const int group = s.query_heads / s.key_value_heads;
  const float* wrow = w + ((size_t)h * s.length + i) * s.length;
  const float* vhead = v + (size_t)(h / group) * s.length * s.head_dim;

  float acc = 0.f;
  for (int j = 0; j < s.length; ++j) acc += wrow[j] * vhead[(size_t)j * s.head_dim + d];
  out[((size_t)i * s.query_heads + h) * s.head_dim + d] = acc;
}

void attention_values(const float* weights, const float* values, float* out,
                      const PromptShape& shape) {
  dim3 grid(shape.length, shape.query_heads);
  pvKernel<<<grid, shape.head_dim>>>(weights, values, out, shape);
  CUDA_CHECK(cudaGetLastError());
}
