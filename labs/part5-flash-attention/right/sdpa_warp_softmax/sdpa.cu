#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "toolkit/check_cublas.h"
#include "toolkit/vectors.h"

namespace {

template <typename T>
constexpr cudaDataType_t type_of() {
  if (std::is_same_v<T, float>) return CUDA_R_32F;
  return std::is_same_v<T, __half> ? CUDA_R_16F : CUDA_R_16BF;
}

__device__ float warp_max(float x) {
  for (int d = 1; d < 32; d *= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, d));
  return x;
}
__device__ float warp_sum(float x) {
  for (int d = 1; d < 32; d *= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
  return x;
}

// Scores and weights may be the same memory: a lane reads a place before it writes it.
template <typename T>
__global__ void softmax_rows(const float* scores, T* weights, AttentionShape s, long rows) {
  const int lane = threadIdx.x % 32;
  const long warps = gridDim.x * static_cast<long>(blockDim.x / 32);
  for (long row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; row < rows; row += warps) {
    const float* from = scores + row * s.key_length;
    T* to = weights + row * s.key_length;
    const int newest = s.causal
                           ? static_cast<int>(row % s.query_length) + s.key_length - s.query_length
                           : s.key_length - 1;
    const int oldest = s.causal && s.window > 0 ? newest - s.window + 1 : 0;
    const auto sees = [&](int key) { return key <= newest && key >= oldest; };

    float largest = -INFINITY;
    for (int key = lane; key < s.key_length; key += 32) {
      if (sees(key)) largest = fmaxf(largest, from[key]);
    }
    largest = warp_max(largest);
    if (largest == -INFINITY) {  // the whole row is masked
      for (int key = lane; key < s.key_length; key += 32) to[key] = rooflab::from_float<T>(0.0f);
      continue;
    }
    float sum = 0;
    for (int key = lane; key < s.key_length; key += 32) {
      if (sees(key)) sum += expf(from[key] - largest);
    }
    sum = warp_sum(sum);
    for (int key = lane; key < s.key_length; key += 32) {
      const float weight = sees(key) ? expf(from[key] - largest) / sum : 0.0f;
      to[key] = rooflab::from_float<T>(weight);
    }
  }
}

}  // namespace

template <typename T>
void sdpa(cublasHandle_t handle, const T* q, const T* k, const T* v, T* out,
          const AttentionShape& s, cudaStream_t stream) {
  CUBLAS_CHECK(cublasSetStream(handle, stream));
  const int group = s.query_heads / s.key_value_heads;
  const long long query_size = static_cast<long long>(s.query_length) * s.head_dim;
  const long long key_size = static_cast<long long>(s.key_length) * s.head_dim;
  const long long score_size = static_cast<long long>(s.query_length) * s.key_length;
  const long heads = static_cast<long>(s.batch) * s.query_heads;

  float* scores = nullptr;
  CUDA_CHECK(cudaMallocAsync(&scores, heads * score_size * sizeof(float), stream));
  T* weights = nullptr;
  if constexpr (std::is_same_v<T, float>) {
    weights = scores;
  } else {
    CUDA_CHECK(cudaMallocAsync(&weights, heads * score_size * sizeof(T), stream));
  }

  const float one = 1.0f, zero = 0.0f;
  const int key_heads = s.batch * s.key_value_heads;
  for (int head = 0; head < key_heads;
       ++head) {  // the keys stand still, the queries of a group move
    CUBLAS_CHECK(cublasGemmStridedBatchedEx(
        handle, CUBLAS_OP_T, CUBLAS_OP_N, s.key_length, s.query_length, s.head_dim, &s.scale,
        k + head * key_size, type_of<T>(), s.head_dim, 0, q + head * group * query_size,
        type_of<T>(), s.head_dim, query_size, &zero, scores + head * group * score_size, CUDA_R_32F,
        s.key_length, score_size, group, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  }
  softmax_rows<<<216, 128, 0, stream>>>(scores, weights, s, heads * s.query_length);
  CUDA_CHECK(cudaGetLastError());
  for (int head = 0; head < key_heads; ++head) {
    CUBLAS_CHECK(cublasGemmStridedBatchedEx(
        handle, CUBLAS_OP_N, CUBLAS_OP_N, s.head_dim, s.query_length, s.key_length, &one,
        v + head * key_size, type_of<T>(), s.head_dim, 0, weights + head * group * score_size,
        type_of<T>(), s.key_length, score_size, &zero, out + head * group * query_size,
        type_of<T>(), s.head_dim, query_size, group, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  }
  if (static_cast<void*>(weights) != scores) CUDA_CHECK(cudaFreeAsync(weights, stream));
  CUDA_CHECK(cudaFreeAsync(scores, stream));
}

template void sdpa(cublasHandle_t, const float*, const float*, const float*, float*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __half*, const __half*, const __half*, __half*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                   __nv_bfloat16*, const AttentionShape&, cudaStream_t);
