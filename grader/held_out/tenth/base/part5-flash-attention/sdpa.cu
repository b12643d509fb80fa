#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "toolkit/check_cublas.h"

template <typename T>
struct Kind;
template <> struct Kind<float> { static constexpr cudaDataType_t value = CUDA_R_32F; };
template <> struct Kind<__half> { static constexpr cudaDataType_t value = CUDA_R_16F; };
template <> struct Kind<__nv_bfloat16> { static constexpr cudaDataType_t value = CUDA_R_16BF; };

__device__ inline void put(float* p, float v) { *p = v; }
__device__ inline void put(__half* p, float v) { *p = __float2half(v); }
__device__ inline void put(__nv_bfloat16* p, float v) { *p = __float2bfloat16(v); }

// one warp for one row of scores
template <typename T>
__global__ void softmax_row(const float* scores, T* weights, AttentionShape s, int rows) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float* in = scores + static_cast<size_t>(row) * s.key_length;
  T* out = weights + static_cast<size_t>(row) * s.key_length;
  int from = 0, to = s.key_length;
  if (s.causal) {
    to = row % s.query_length + s.key_length - s.query_length + 1;
    if (s.window > 0) from = max(0, to - s.window);
  }
  float m = -INFINITY;
  for (int j = from + threadIdx.x; j < to; j += 32) m = fmaxf(m, in[j]);
  for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  float l = 0.0f;
  for (int j = from + threadIdx.x; j < to; j += 32) l += expf(in[j] - m);
  for (int d = 16; d > 0; d >>= 1) l += __shfl_xor_sync(~0u, l, d);
  for (int j = threadIdx.x; j < s.key_length; j += 32) {
    const bool sees = j >= from && j < to;
    put(out + j, sees ? expf(in[j] - m) / l : 0.0f);
  }
}

template <typename T>
void sdpa(cublasHandle_t handle, const T* q, const T* k, const T* v, T* out,
          const AttentionShape& shape, cudaStream_t stream) {
  CUBLAS_CHECK(cublasSetStream(handle, stream));
  const int group = shape.query_heads / shape.key_value_heads;
  const int pairs = shape.batch * shape.key_value_heads;
  // Query heads that share keys lie one behind the other: together they are one tall matrix.
  const int tall = group * shape.query_length;
  const int keys = shape.key_length;
  const int dim = shape.head_dim;
  const size_t count = static_cast<size_t>(pairs) * tall * keys;
  const cudaDataType_t type = Kind<T>::value;

  float* scores = nullptr;
  CUDA_CHECK(cudaMallocAsync(&scores, count * sizeof(float), stream));
  T* weights = nullptr;
  if constexpr (std::is_same_v<T, float>) {
    weights = scores;
  } else {
    CUDA_CHECK(cudaMallocAsync(&weights, count * sizeof(T), stream));
  }

  const float zero = 0.0f, one = 1.0f;
  const long long q_step = static_cast<long long>(tall) * dim;
  const long long kv_step = static_cast<long long>(keys) * dim;
  const long long s_step = static_cast<long long>(tall) * keys;
  // column-major: scores^T (keys x tall) = k q^T
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, tall, dim,
                                          &shape.scale, k, type, dim, kv_step, q, type, dim, q_step,
                                          &zero, scores, CUDA_R_32F, keys, s_step, pairs,
                                          CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  const int rows = pairs * tall;
  softmax_row<T><<<(rows + 3) / 4, dim3(32, 4), 0, stream>>>(scores, weights, shape, rows);
  CUDA_CHECK(cudaGetLastError());
  // out^T (dim x tall) = v^T weights^T
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, dim, tall, keys, &one, v,
                                          type, dim, kv_step, weights, type, keys, s_step, &zero,
                                          out, type, dim, q_step, pairs, CUBLAS_COMPUTE_32F,
                                          CUBLAS_GEMM_DEFAULT));
  if constexpr (!std::is_same_v<T, float>) CUDA_CHECK(cudaFreeAsync(weights, stream));
  CUDA_CHECK(cudaFreeAsync(scores, stream));
}

template void sdpa(cublasHandle_t, const float*, const float*, const float*, float*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __half*, const __half*, const __half*, __half*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                   __nv_bfloat16*, const AttentionShape&, cudaStream_t);
