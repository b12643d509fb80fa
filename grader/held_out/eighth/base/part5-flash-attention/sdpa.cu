#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "toolkit/check_cublas.h"
#include "toolkit/vectors.h"

namespace {

template <typename T>
constexpr cudaDataType_t kTypeOf = CUDA_R_32F;
template <>
constexpr cudaDataType_t kTypeOf<__half> = CUDA_R_16F;
template <>
constexpr cudaDataType_t kTypeOf<__nv_bfloat16> = CUDA_R_16BF;

// A warp for each row of scores. The weights may lie where the scores do.
template <typename T>
__global__ void softmax_rows(const float* scores, T* weights, AttentionShape s, std::int64_t rows) {
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const int i = row % s.query_length;
  int from = 0;
  int to = s.key_length;  // the keys in between are seen
  if (s.causal) {
    to = i + s.key_length - s.query_length + 1;
    if (s.window > 0) from = max(0, to - s.window);
  }
  const float* in = scores + row * s.key_length;
  T* out = weights + row * s.key_length;

  float top = -INFINITY;
  for (int j = from + threadIdx.x; j < to; j += 32) top = fmaxf(top, in[j]);
  for (int lanes = 16; lanes > 0; lanes /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, lanes));
  float sum = 0.0f;
  for (int j = from + threadIdx.x; j < to; j += 32) sum += expf(in[j] - top);
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);

  for (int j = threadIdx.x; j < s.key_length; j += 32) {
    const bool seen = j >= from && j < to;
    const float weight = seen ? expf(in[j] - top) / sum : 0.0f;
    out[j] = rooflab::from_float<T>(weight);
  }
}

}  // namespace

// The query heads of one key head lie one behind the other: for cuBLAS they are one matrix with
// `stacked` rows.
template <typename T>
void sdpa(cublasHandle_t handle, const T* q, const T* k, const T* v, T* out,
          const AttentionShape& shape, cudaStream_t stream) {
  CUBLAS_CHECK(cublasSetStream(handle, stream));
  const int stacked = shape.query_heads / shape.key_value_heads * shape.query_length;
  const int keys = shape.key_length;
  const int dim = shape.head_dim;
  const int products = shape.batch * shape.key_value_heads;
  const std::int64_t rows = std::int64_t{products} * stacked;
  const std::int64_t q_step = std::int64_t{stacked} * dim;
  const std::int64_t k_step = std::int64_t{keys} * dim;
  const std::int64_t s_step = std::int64_t{stacked} * keys;

  float* scores = nullptr;
  CUDA_CHECK(cudaMallocAsync(&scores, rows * keys * sizeof(float), stream));
  T* weights = nullptr;
  if constexpr (std::is_same_v<T, float>) {
    weights = scores;
  } else {
    CUDA_CHECK(cudaMallocAsync(&weights, rows * keys * sizeof(T), stream));
  }

  const float one = 1.0f;
  const float zero = 0.0f;
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(
      handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, stacked, dim, &shape.scale,
      k, kTypeOf<T>, dim, k_step,
      q, kTypeOf<T>, dim, q_step,
      &zero, scores, CUDA_R_32F, keys, s_step, products,
      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));

  const dim3 block(32, 4);
  const unsigned blocks = static_cast<unsigned>((rows + 3) / 4);
  softmax_rows<<<blocks, block, 0, stream>>>(scores, weights, shape, rows);
  CUDA_CHECK(cudaGetLastError());

  CUBLAS_CHECK(cublasGemmStridedBatchedEx(
      handle, CUBLAS_OP_N, CUBLAS_OP_N, dim, stacked, keys, &one,
      v, kTypeOf<T>, dim, k_step,
      weights, kTypeOf<T>, keys, s_step,
      &zero, out, kTypeOf<T>, dim, q_step, products,
      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));

  CUDA_CHECK(cudaFreeAsync(scores, stream));
  if constexpr (!std::is_same_v<T, float>) CUDA_CHECK(cudaFreeAsync(weights, stream));
}

template void sdpa(cublasHandle_t, const float*, const float*, const float*, float*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __half*, const __half*, const __half*, __half*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                   __nv_bfloat16*, const AttentionShape&, cudaStream_t);
