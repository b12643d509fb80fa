#include "flash_tensor_cores.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "toolkit/check.h"

__device__ float number(float x) { return x; }
__device__ float number(__half x) { return __half2float(x); }
__device__ float number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void store(float* to, float x) { *to = x; }
__device__ void store(__half* to, float x) { *to = __float2half(x); }
__device__ void store(__nv_bfloat16* to, float x) { *to = __float2bfloat16(x); }

template <typename T>
__global__ void attend(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                       AttentionShape shape) {
  const int query = blockIdx.x * blockDim.x + threadIdx.x;
  const int head = blockIdx.y;
  const int batch = blockIdx.z;
  if (query >= shape.query_length) return;
  const int kv_head = head / (shape.query_heads / shape.key_value_heads);
  const int dim = shape.head_dim;
  const size_t row =
      static_cast<size_t>(batch * shape.query_heads + head) * shape.query_length + query;
  const size_t keys =
      static_cast<size_t>(batch * shape.key_value_heads + kv_head) * shape.key_length;
  int end = shape.key_length;
  int first = 0;
  if (shape.causal) {
    end = min(end, query + shape.key_length - shape.query_length + 1);
    if (shape.window > 0) first = max(0, end - shape.window);
  }
  float acc[256];
  for (int d = 0; d < dim; ++d) acc[d] = 0;
  float largest = -INFINITY;
  float sum = 0;
  for (int j = first; j < end; ++j) {
    float score = 0;
    for (int d = 0; d < dim; ++d)
      score += number(q[row * dim + d]) * number(k[(keys + j) * dim + d]);
    score *= shape.scale;
    const float now = fmaxf(largest, score);
    const float shrink = expf(largest - now);
    const float weight = expf(score - now);
    for (int d = 0; d < dim; ++d)
      acc[d] = acc[d] * shrink + weight * number(v[(keys + j) * dim + d]);
    sum = sum * shrink + weight;
    largest = now;
  }
  for (int d = 0; d < dim; ++d) store(&out[row * dim + d], sum > 0 ? acc[d] / sum : 0.0f);
  log_sum_exp[row] = sum > 0 ? largest + logf(sum) : -INFINITY;
}

template <typename T>
void flash_tensor_cores(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                        const AttentionShape& shape, cudaStream_t stream) {
  const dim3 grid((shape.query_length + 63) / 64, shape.query_heads, shape.batch);
  attend<<<grid, 64, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void flash_tensor_cores(const __half*, const __half*, const __half*, __half*, float*,
                                 const AttentionShape&, cudaStream_t);
template void flash_tensor_cores(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                                 __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
