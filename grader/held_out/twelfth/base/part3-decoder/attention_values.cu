#include "attention_steps.h"

#include "toolkit/check.h"

namespace {

// A block for a token and a head, a thread for four dimensions.
__global__ void weigh_values(const float* weights, const float* values, float* out,
                             PromptShape shape) {
  const int token = blockIdx.x, head = blockIdx.y;
  const int sharing = shape.query_heads / shape.key_value_heads;
  const size_t value_head = head / sharing;
  const float* weight = weights + (static_cast<size_t>(head) * shape.length + token) * shape.length;
  const int d = 4 * threadIdx.x;
  const float* value = values + value_head * shape.length * shape.head_dim + d;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int j = 0; j <= token; ++j, value += shape.head_dim) {
    const float w = weight[j];
    const float4 v = *reinterpret_cast<const float4*>(value);
    sum.x += w * v.x;
    sum.y += w * v.y;
    sum.z += w * v.z;
    sum.w += w * v.w;
  }
  float* row = out + (static_cast<size_t>(token) * shape.query_heads + head) * shape.head_dim;
  *reinterpret_cast<float4*>(row + d) = sum;
}

}  // namespace

void attention_values(const float* weights, const float* values, float* out,
                      const PromptShape& shape) {
  const dim3 grid(shape.length, shape.query_heads);
  weigh_values<<<grid, shape.head_dim / 4>>>(weights, values, out, shape);
  CUDA_CHECK(cudaGetLastError());
}
