#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <type_traits>

#include "toolkit/check_cublas.h"
#include "toolkit/vectors.h"
#include "warp.h"

namespace {

template <typename T>
constexpr cudaDataType_t kType = std::is_same_v<T, float>    ? CUDA_R_32F
                                 : std::is_same_v<T, __half> ? CUDA_R_16F
                                                             : CUDA_R_16BF;

// A warp for each row of scores.
template <typename T>
__global__ void soften(const float* scores, T* weights, AttentionShape shape, int rows) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  const int length = shape.key_length;
  int first = 0;
  int last = length - 1;
  if (shape.causal) {
    const int query = row % shape.query_length;
    last = query + length - shape.query_length;
    if (shape.window > 0) first = max(0, last - shape.window + 1);
  }
  const float* from = scores + static_cast<long long>(row) * length;
  T* to = weights + static_cast<long long>(row) * length;
  float peak = -INFINITY;
  for (int j = first + lane; j <= last; j += 32) peak = fmaxf(peak, from[j]);
  peak = warp_max(peak);
  float total = 0.0f;
  for (int j = first + lane; j <= last; j += 32) total += expf(from[j] - peak);
  total = warp_sum(total);
  for (int j = lane; j < length; j += 32) {
    const bool seen = j >= first && j <= last;
    to[j] = rooflab::from_float<T>(seen ? expf(from[j] - peak) / total : 0.0f);
  }
}

}  // namespace

template <typename T>
void sdpa(cublasHandle_t handle, const T* q, const T* k, const T* v, T* out,
          const AttentionShape& shape, cudaStream_t stream) {
  // The queries of all heads that share a key/value head lie one behind the other: they are one
  // matrix, and a product for each key/value head of each sequence is enough.
  const int products = shape.batch * shape.key_value_heads;
  const int group = shape.query_heads / shape.key_value_heads;
  const int queries = group * shape.query_length;
  const int keys = shape.key_length;
  const int dims = shape.head_dim;
  const long long query_stride = static_cast<long long>(queries) * dims;
  const long long key_stride = static_cast<long long>(keys) * dims;
  const long long score_stride = static_cast<long long>(queries) * keys;
  const size_t count = static_cast<size_t>(products) * score_stride;

  float* scores = nullptr;
  T* weights = nullptr;
  CUDA_CHECK(cudaMallocAsync(&scores, count * sizeof(float), stream));
  if constexpr (std::is_same_v<T, float>) {
    weights = scores;
  } else {
    CUDA_CHECK(cudaMallocAsync(&weights, count * sizeof(T), stream));
  }
  CUBLAS_CHECK(cublasSetStream(handle, stream));
  const float one = 1.0f;
  const float none = 0.0f;
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(
      handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries, dims, &shape.scale, k, kType<T>, dims,
      key_stride, q, kType<T>, dims, query_stride, &none, scores, CUDA_R_32F, keys, score_stride,
      products, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  const int rows = products * queries;
  constexpr int kWarps = 4;
  soften<<<(rows + kWarps - 1) / kWarps, kWarps * 32, 0, stream>>>(scores, weights, shape, rows);
  CUDA_CHECK(cudaGetLastError());
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(
      handle, CUBLAS_OP_N, CUBLAS_OP_N, dims, queries, keys, &one, v, kType<T>, dims, key_stride,
      weights, kType<T>, keys, score_stride, &none, out, kType<T>, dims, query_stride, products,
      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  if (static_cast<void*>(weights) != scores) CUDA_CHECK(cudaFreeAsync(weights, stream));
  CUDA_CHECK(cudaFreeAsync(scores, stream));
}

template void sdpa(cublasHandle_t, const float*, const float*, const float*, float*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __half*, const __half*, const __half*, __half*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                   __nv_bfloat16*, const AttentionShape&, cudaStream_t);
