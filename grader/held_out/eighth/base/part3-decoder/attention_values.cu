#include <cstdint>

#include "attention_steps.h"
#include "toolkit/check.h"

// A block computes one head of one token; a thread some of its elements.
__global__ void gather_values(const float* weights, const float* values, float* out,
                              PromptShape p) {
  const int token = blockIdx.x;
  const int head = blockIdx.y;
  const int value_head = head / (p.query_heads / p.key_value_heads);
  const float* row = weights + (static_cast<std::int64_t>(head) * p.length + token) * p.length;
  const float* matrix = values + static_cast<std::int64_t>(value_head) * p.length * p.head_dim;
  float* target = out + (static_cast<std::int64_t>(token) * p.query_heads + head) * p.head_dim;

  for (int d = threadIdx.x; d < p.head_dim; d += blockDim.x) {
    float sum = 0.0f;
    for (int j = 0; j <= token; ++j) {
      sum += row[j] * matrix[j * p.head_dim + d];
    }
    target[d] = sum;
  }
}

void attention_values(const float* weights, const float* values, float* out,
                      const PromptShape& shape) {
  const dim3 grid(shape.length, shape.query_heads);
  gather_values<<<grid, 64>>>(weights, values, out, shape);
  CUDA_CHECK(cudaGetLastError());
}
