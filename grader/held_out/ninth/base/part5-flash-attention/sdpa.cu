#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "toolkit/check_cublas.h"
#include "toolkit/vectors.h"

namespace {

template <typename T>
constexpr cudaDataType_t kType = CUDA_R_32F;
template <>
constexpr cudaDataType_t kType<__half> = CUDA_R_16F;
template <>
constexpr cudaDataType_t kType<__nv_bfloat16> = CUDA_R_16BF;

constexpr int kThreads = 128;

// Folds a value over the block by a tree in shared memory.
template <typename Fold>
__device__ float fold_block(float value, float* room, Fold fold) {
  room[threadIdx.x] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) room[threadIdx.x] = fold(room[threadIdx.x], room[threadIdx.x + half]);
    __syncthreads();
  }
  const float result = room[0];
  __syncthreads();
  return result;
}

// A block for each row. weights may be the same memory as scores.
template <typename T>
__global__ void softmax_row(const float* scores, T* weights, AttentionShape s) {
  __shared__ float room[kThreads];
  const long long row = blockIdx.x;
  const int query = row % s.query_length;
  const int last = s.causal ? query + s.key_length - s.query_length : s.key_length - 1;
  const int first = s.causal && s.window > 0 ? max(0, last - s.window + 1) : 0;
  const float* in = scores + row * s.key_length;
  T* to = weights + row * s.key_length;
  float top = -INFINITY;
  for (int j = first + threadIdx.x; j <= last; j += kThreads) top = fmaxf(top, in[j]);
  top = fold_block(top, room, [](float a, float b) { return fmaxf(a, b); });
  float total = 0.0f;
  for (int j = first + threadIdx.x; j <= last; j += kThreads) total += expf(in[j] - top);
  total = fold_block(total, room, [](float a, float b) { return a + b; });
  for (int j = threadIdx.x; j < s.key_length; j += kThreads) {
    const bool seen = j >= first && j <= last;
    to[j] = rooflab::from_float<T>(seen ? expf(in[j] - top) / total : 0.0f);
  }
}

}  // namespace

// The query heads of one key/value head are neighbours: their queries are one tall matrix.
template <typename T>
void sdpa(cublasHandle_t handle, const T* q, const T* k, const T* v, T* out,
          const AttentionShape& shape, cudaStream_t stream) {
  const int group = shape.query_heads / shape.key_value_heads;
  const int tall = group * shape.query_length, keys = shape.key_length, d = shape.head_dim;
  const int problems = shape.batch * shape.key_value_heads;
  const long long count = 1LL * problems * tall * keys;
  float* scores = nullptr;
  T* weights = nullptr;
  CUDA_CHECK(cudaMallocAsync(&scores, count * sizeof(float), stream));
  if constexpr (std::is_same_v<T, float>) {
    weights = scores;
  } else {
    CUDA_CHECK(cudaMallocAsync(&weights, count * sizeof(T), stream));
  }
  const float one = 1.0f, zero = 0.0f;
  CUBLAS_CHECK(cublasSetStream(handle, stream));
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(
      handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, tall, d, &shape.scale, k, kType<T>, d,
      1LL * keys * d, q, kType<T>, d, 1LL * tall * d, &zero, scores, CUDA_R_32F, keys,
      1LL * tall * keys, problems, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  softmax_row<T><<<problems * tall, kThreads, 0, stream>>>(scores, weights, shape);
  CUDA_CHECK(cudaGetLastError());
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(
      handle, CUBLAS_OP_N, CUBLAS_OP_N, d, tall, keys, &one, v, kType<T>, d, 1LL * keys * d,
      weights, kType<T>, keys, 1LL * tall * keys, &zero, out, kType<T>, d, 1LL * tall * d, problems,
      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  if constexpr (!std::is_same_v<T, float>) CUDA_CHECK(cudaFreeAsync(weights, stream));
  CUDA_CHECK(cudaFreeAsync(scores, stream));
}

template void sdpa(cublasHandle_t, const float*, const float*, const float*, float*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __half*, const __half*, const __half*, __half*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                   __nv_bfloat16*, const AttentionShape&, cudaStream_t);
