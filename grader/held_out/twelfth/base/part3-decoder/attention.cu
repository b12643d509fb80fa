#include "attention.h"

#include <cstdint>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kMostPerLane = 8;  // of a head of at most 256

__device__ float lanes_sum(float value) {
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
  return value;
}

// A warp for each query of each head: its lanes share the dimensions, and it walks over the keys
// with a running softmax.
template <typename T>
__global__ void warp_attends(const T* q, const T* keys, const T* values, const int* positions,
                             T* out, AttentionShape shape) {
  const int lane = threadIdx.x;
  const int query = blockIdx.x;
  const int head = blockIdx.y;
  const std::int64_t sequence = blockIdx.z;
  const int key_head = head / (shape.query_heads / shape.key_value_heads);
  const std::int64_t row =
      ((sequence * shape.query_length + query) * shape.query_heads + head) * shape.head_dim;
  const std::int64_t cache =
      (sequence * shape.key_value_heads + key_head) * shape.capacity * shape.head_dim;

  float mine[kMostPerLane], sum[kMostPerLane];
  for (int i = 0; i < kMostPerLane; ++i) {
    const int d = lane + 32 * i;
    mine[i] = d < shape.head_dim ? rooflab::to_float(q[row + d]) * shape.scale : 0.0f;
    sum[i] = 0.0f;
  }
  float largest = -INFINITY, total = 0.0f;

  const int position = positions[query];
  const int oldest = shape.window == 0 ? 0 : max(0, position + 1 - shape.window);
  for (int j = oldest; j <= position; ++j) {
    const std::int64_t slot = cache + std::int64_t{j % shape.capacity} * shape.head_dim;
    float score = 0.0f;
    for (int i = 0; i < kMostPerLane; ++i) {
      const int d = lane + 32 * i;
      if (d < shape.head_dim) score += mine[i] * rooflab::to_float(keys[slot + d]);
    }
    score = lanes_sum(score);
    const float top = fmaxf(largest, score);
    const float shrink = expf(largest - top);
    const float weight = expf(score - top);
    total = total * shrink + weight;
    for (int i = 0; i < kMostPerLane; ++i) {
      const int d = lane + 32 * i;
      if (d < shape.head_dim) {
        sum[i] = sum[i] * shrink + weight * rooflab::to_float(values[slot + d]);
      }
    }
    largest = top;
  }

  for (int i = 0; i < kMostPerLane; ++i) {
    const int d = lane + 32 * i;
    if (d < shape.head_dim) out[row + d] = rooflab::from_float<T>(sum[i] / total);
  }
}

}  // namespace

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.query_length, shape.query_heads, shape.batch);
  warp_attends<<<grid, 32, 0, stream>>>(q, keys, values, positions, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
