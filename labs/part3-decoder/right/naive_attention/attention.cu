#include "attention.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

__device__ float number(float x) { return x; }
__device__ float number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void store(float* to, float x) { *to = x; }
__device__ void store(__nv_bfloat16* to, float x) { *to = __float2bfloat16(x); }

template <typename T>
__global__ void attend(const T* q, const T* keys, const T* values, const int* positions, T* out,
                       AttentionShape shape) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  const int count = shape.batch * shape.query_length * shape.query_heads;
  if (index >= count) return;
  const int head = index % shape.query_heads;
  const int query = index / shape.query_heads % shape.query_length;
  const int batch = index / shape.query_heads / shape.query_length;
  const int kv_head = head / (shape.query_heads / shape.key_value_heads);
  const int dim = shape.head_dim;
  const T* q_row = q + static_cast<size_t>(index) * dim;
  const size_t cache =
      static_cast<size_t>(batch * shape.key_value_heads + kv_head) * shape.capacity;
  const int last = positions[query];
  const int first = shape.window == 0 ? 0 : max(0, last - shape.window + 1);
  float sums[256];
  for (int d = 0; d < dim; ++d) sums[d] = 0;
  float largest = -INFINITY;
  float total = 0;
  for (int j = first; j <= last; ++j) {
    const size_t slot = (cache + j % shape.capacity) * dim;
    float score = 0;
    for (int d = 0; d < dim; ++d) score += number(q_row[d]) * number(keys[slot + d]);
    score *= shape.scale;
    const float now = fmaxf(largest, score);
    const float shrink = expf(largest - now);
    const float weight = expf(score - now);
    for (int d = 0; d < dim; ++d) sums[d] = sums[d] * shrink + weight * number(values[slot + d]);
    total = total * shrink + weight;
    largest = now;
  }
  for (int d = 0; d < dim; ++d) store(&out[static_cast<size_t>(index) * dim + d], sums[d] / total);
}

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  const int count = shape.batch * shape.query_length * shape.query_heads;
  attend<<<(count + 63) / 64, 64, 0, stream>>>(q, keys, values, positions, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
