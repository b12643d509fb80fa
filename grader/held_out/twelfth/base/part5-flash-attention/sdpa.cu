#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "toolkit/check.h"
#include "toolkit/check_cublas.h"
#include "toolkit/vectors.h"

namespace {

template <typename T>
constexpr cudaDataType kType = std::is_same_v<T, float>    ? CUDA_R_32F
                               : std::is_same_v<T, __half> ? CUDA_R_16F
                                                           : CUDA_R_16BF;

__device__ float over_warp(float value, bool largest) {
  for (int mask = 16; mask > 0; mask >>= 1) {
    const float other = __shfl_xor_sync(0xffffffffu, value, mask);
    value = largest ? fmaxf(value, other) : value + other;
  }
  return value;
}

// A warp for each row of scores.
template <typename T>
__global__ void softmax_rows(const float* scores, T* weights, int rows, AttentionShape shape) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const std::int64_t begin = std::int64_t{row} * shape.key_length;
  const int query = row % shape.query_length;
  int first = 0, behind = shape.key_length;
  if (shape.causal) {
    behind = query + shape.key_length - shape.query_length + 1;
    if (shape.window > 0) first = max(behind - shape.window, 0);
  }
  float largest = -INFINITY;
  for (int j = first + threadIdx.x; j < behind; j += 32) largest = fmaxf(largest, scores[begin + j]);
  largest = over_warp(largest, true);
  float total = 0.0f;
  for (int j = first + threadIdx.x; j < behind; j += 32) total += expf(scores[begin + j] - largest);
  total = over_warp(total, false);
  for (int j = threadIdx.x; j < shape.key_length; j += 32) {
    const bool seen = first <= j && j < behind;
    const float weight = seen ? expf(scores[begin + j] - largest) / total : 0.0f;
    weights[begin + j] = rooflab::from_float<T>(weight);
  }
}

}  // namespace

template <typename T>
void sdpa(cublasHandle_t handle, const T* q, const T* k, const T* v, T* out,
          const AttentionShape& shape, cudaStream_t stream) {
  // The query heads of a key head follow one another: their queries are the rows of one matrix.
  const int matrices = shape.batch * shape.key_value_heads;
  const int queries = shape.query_heads / shape.key_value_heads * shape.query_length;
  const int keys = shape.key_length, dim = shape.head_dim;
  const int rows = matrices * queries;
  const std::size_t count = static_cast<std::size_t>(rows) * keys;
  float* scores = nullptr;
  CUDA_CHECK(cudaMallocAsync(reinterpret_cast<void**>(&scores), count * sizeof(float), stream));
  T* weights = nullptr;
  if constexpr (std::is_same_v<T, float>) {
    weights = scores;
  } else {
    CUDA_CHECK(cudaMallocAsync(reinterpret_cast<void**>(&weights), count * sizeof(T), stream));
  }

  const float zero = 0.0f, one = 1.0f;
  const long long of_q = static_cast<long long>(queries) * dim;
  const long long of_k = static_cast<long long>(keys) * dim;
  const long long of_scores = static_cast<long long>(queries) * keys;
  CUBLAS_CHECK(cublasSetStream(handle, stream));
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(
      handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries, dim, &shape.scale, k, kType<T>, dim, of_k, q,
      kType<T>, dim, of_q, &zero, scores, CUDA_R_32F, keys, of_scores, matrices,
      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  softmax_rows<<<(rows + 3) / 4, dim3(32, 4), 0, stream>>>(scores, weights, rows, shape);
  CUDA_CHECK(cudaGetLastError());
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(
      handle, CUBLAS_OP_N, CUBLAS_OP_N, dim, queries, keys, &one, v, kType<T>, dim, of_k, weights,
      kType<T>, keys, of_scores, &zero, out, kType<T>, dim, of_q, matrices, CUBLAS_COMPUTE_32F,
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
