#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "toolkit/check.h"

__device__ float number(float x) { return x; }
__device__ float number(__half x) { return __half2float(x); }
__device__ float number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void store(float* to, float x) { *to = x; }
__device__ void store(__half* to, float x) { *to = __float2half(x); }
__device__ void store(__nv_bfloat16* to, float x) { *to = __float2bfloat16(x); }

__device__ bool sees(const AttentionShape& shape, int query, int key) {
  if (!shape.causal) return true;
  const int last = query + shape.key_length - shape.query_length;
  return key <= last && (shape.window == 0 || key > last - shape.window);
}

template <typename T>
__global__ void score(const T* q, const T* k, float* scores, AttentionShape shape) {
  const int blocks_per_row = (shape.key_length + blockDim.x - 1) / blockDim.x;
  const int key = blockIdx.x % blocks_per_row * blockDim.x + threadIdx.x;
  const size_t row = blockIdx.x / blocks_per_row;
  const int query = row % shape.query_length;
  const int head = row / shape.query_length % shape.query_heads;
  const int batch = row / shape.query_length / shape.query_heads;
  if (key >= shape.key_length) return;
  const int kv_head = head / (shape.query_heads / shape.key_value_heads);
  const size_t column =
      static_cast<size_t>(batch * shape.key_value_heads + kv_head) * shape.key_length + key;
  float sum = 0;
  for (int d = 0; d < shape.head_dim; ++d) {
    sum += number(q[row * shape.head_dim + d]) * number(k[column * shape.head_dim + d]);
  }
  scores[row * shape.key_length + key] = sees(shape, query, key) ? sum * shape.scale : -INFINITY;
}

// Weights take the place of the scores where both are float.
template <typename T>
__global__ void soften(const float* scores, T* weights, AttentionShape shape) {
  const size_t row = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= static_cast<size_t>(shape.batch) * shape.query_heads * shape.query_length) return;
  const int query = row % shape.query_length;
  const float* from = scores + row * shape.key_length;
  T* to = weights + row * shape.key_length;
  float largest = -INFINITY;
  for (int j = 0; j < shape.key_length; ++j) largest = fmaxf(largest, from[j]);
  float sum = 0;
  for (int j = 0; j < shape.key_length; ++j) {
    if (sees(shape, query, j)) sum += expf(from[j] - largest);
  }
  for (int j = 0; j < shape.key_length; ++j) {
    store(&to[j], sees(shape, query, j) ? expf(from[j] - largest) / sum : 0.0f);
  }
}

template <typename T>
__global__ void combine(const T* weights, const T* v, T* out, AttentionShape shape) {
  const int d = threadIdx.x;
  const size_t row = blockIdx.x;
  const int head = row / shape.query_length % shape.query_heads;
  const int batch = row / shape.query_length / shape.query_heads;
  const int kv_head = head / (shape.query_heads / shape.key_value_heads);
  const size_t keys =
      static_cast<size_t>(batch * shape.key_value_heads + kv_head) * shape.key_length;
  float sum = 0;
  for (int j = 0; j < shape.key_length; ++j) {
    sum += number(weights[row * shape.key_length + j]) * number(v[(keys + j) * shape.head_dim + d]);
  }
  store(&out[row * shape.head_dim + d], sum);
}

template <typename T>
void run(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
         cudaStream_t stream, float* scores, T* weights) {
  // All along x, which alone has room for more than 65,535 blocks.
  const int rows = shape.batch * shape.query_heads * shape.query_length;
  const int blocks_per_row = (shape.key_length + 63) / 64;
  score<<<rows * blocks_per_row, 64, 0, stream>>>(q, k, scores, shape);
  CUDA_CHECK(cudaGetLastError());
  soften<<<(rows + 63) / 64, 64, 0, stream>>>(scores, weights, shape);
  CUDA_CHECK(cudaGetLastError());
  combine<<<rows, shape.head_dim, 0, stream>>>(weights, v, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template <typename T>
void sdpa(cublasHandle_t, const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
          cudaStream_t stream) {
  const size_t count =
      static_cast<size_t>(shape.batch) * shape.query_heads * shape.query_length * shape.key_length;
  float* scores = nullptr;
  CUDA_CHECK(cudaMallocAsync(&scores, count * sizeof(float), stream));
  if constexpr (sizeof(T) == sizeof(float)) {
    run(q, k, v, out, shape, stream, scores, scores);
  } else {
    T* weights = nullptr;
    CUDA_CHECK(cudaMallocAsync(&weights, count * sizeof(T), stream));
    run(q, k, v, out, shape, stream, scores, weights);
    CUDA_CHECK(cudaFreeAsync(weights, stream));
  }
  CUDA_CHECK(cudaFreeAsync(scores, stream));
}

template void sdpa(cublasHandle_t, const float*, const float*, const float*, float*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __half*, const __half*, const __half*, __half*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                   __nv_bfloat16*, const AttentionShape&, cudaStream_t);
