#include "attention.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

__device__ float number(float x) { return x; }
__device__ float number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void store(float* to, float x) { *to = x; }
__device__ void store(__nv_bfloat16* to, float x) { *to = __float2bfloat16(x); }

// A thread for each element of the head; all of them add up each score in shared memory.
template <typename T>
__global__ void attend(const T* q, const T* keys, const T* values, const int* positions, T* out,
                       AttentionShape shape) {
  __shared__ float parts[256];
  const int head = blockIdx.y;
  const int query = blockIdx.x;
  const int batch = blockIdx.z;
  const int d = threadIdx.x;
  const int dim = shape.head_dim;
  const int kv_head = head / (shape.query_heads / shape.key_value_heads);
  const size_t row =
      (static_cast<size_t>(batch * shape.query_length + query) * shape.query_heads + head) * dim;
  const size_t cache =
      static_cast<size_t>(batch * shape.key_value_heads + kv_head) * shape.capacity;
  const int last = positions[query];
  const int first = shape.window == 0 ? 0 : max(0, last - shape.window + 1);
  const float mine = d < dim ? number(q[row + d]) : 0.0f;
  float largest = -INFINITY;
  float total = 0;
  float sum = 0;
  for (int j = first; j <= last; ++j) {
    const size_t slot = (cache + j % shape.capacity) * dim;
    parts[d] = d < dim ? mine * number(keys[slot + d]) : 0.0f;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (d < half) parts[d] += parts[d + half];
      __syncthreads();
    }
    const float score = parts[0] * shape.scale;
    __syncthreads();
    const float now = fmaxf(largest, score);
    const float shrink = expf(largest - now);
    const float weight = expf(score - now);
    if (d < dim) sum = sum * shrink + weight * number(values[slot + d]);
    total = total * shrink + weight;
    largest = now;
  }
  if (d < dim) store(&out[row + d], sum / total);
}

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.query_length, shape.query_heads, shape.batch);
  attend<<<grid, 256, 0, stream>>>(q, keys, values, positions, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
