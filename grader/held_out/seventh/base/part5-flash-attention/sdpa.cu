#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <type_traits>

#include "toolkit/check.h"
#include "toolkit/check_cublas.h"
#include "toolkit/vectors.h"

#define WARP 32
#define TPB 128
#define FULL_MASK 0xffffffffu

template <typename T>
struct CudaType;
template <>
struct CudaType<float> {
  static constexpr cudaDataType_t value = CUDA_R_32F;
};
template <>
struct CudaType<__half> {
  static constexpr cudaDataType_t value = CUDA_R_16F;
};
template <>
struct CudaType<__nv_bfloat16> {
  static constexpr cudaDataType_t value = CUDA_R_16BF;
};

// warp per row; P may be S itself
template <typename T>
__global__ void maskedSoftmax(const float* S, T* P, int rows, int nq, int nk, int causal,
                              int window) {
  const int row = blockIdx.x * (TPB / WARP) + threadIdx.x / WARP;
  const int lane = threadIdx.x % WARP;
  if (row >= rows) return;
  const int i = row % nq;
  const int last = causal ? i + nk - nq : nk - 1;
  const int first = window > 0 ? max(0, last - window + 1) : 0;
  const float* s = S + (size_t)row * nk;
  T* p = P + (size_t)row * nk;

  float m = -INFINITY;
  for (int j = first + lane; j <= last; j += WARP) m = fmaxf(m, s[j]);
  for (int o = WARP / 2; o > 0; o >>= 1) m = fmaxf(m, __shfl_xor_sync(FULL_MASK, m, o));
  float z = 0.f;
  for (int j = first + lane; j <= last; j += WARP) z += expf(s[j] - m);
  for (int o = WARP / 2; o > 0; o >>= 1) z += __shfl_xor_sync(FULL_MASK, z, o);

  for (int j = lane; j < nk; j += WARP) {
    const bool seen = j >= first && j <= last;
    p[j] = rooflab::from_float<T>(seen ? expf(s[j] - m) / z : 0.f);
  }
}

template <typename T>
void sdpa(cublasHandle_t handle, const T* q, const T* k, const T* v, T* out,
          const AttentionShape& sh, cudaStream_t stream) {
  const cudaDataType_t type = CudaType<T>::value;
  const int nq = sh.query_length, nk = sh.key_length, d = sh.head_dim;
  const int rep = sh.query_heads / sh.key_value_heads;
  const int rows = sh.batch * sh.query_heads * nq;
  const size_t n = (size_t)rows * nk;
  const float one = 1.f, zero = 0.f;
  const bool isFloat = std::is_same<T, float>::value;

  float* S = nullptr;
  T* P = nullptr;
  CUDA_CHECK(cudaMallocAsync((void**)&S, n * sizeof(float), stream));
  if (isFloat)
    P = (T*)S;
  else
    CUDA_CHECK(cudaMallocAsync((void**)&P, n * sizeof(T), stream));

  CUBLAS_CHECK(cublasSetStream(handle, stream));
  // `rep` query heads share one key head: their queries are one tall matrix of rep * nq rows
  const int groups = sh.batch * sh.key_value_heads;
  const int tall = rep * nq;

  // S (tall x nk, row-major) = scale * Q K^T   ->   col-major S^T = K Q^T
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, nk, tall, d,
                                          &sh.scale, k, type, d, (long long)nk * d,
                                          q, type, d, (long long)tall * d,
                                          &zero, S, CUDA_R_32F, nk, (long long)tall * nk,
                                          groups, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));

  maskedSoftmax<T><<<(rows + TPB / WARP - 1) / (TPB / WARP), TPB, 0, stream>>>(
      S, P, rows, nq, nk, sh.causal, sh.window);
  CUDA_CHECK(cudaGetLastError());

  // O (tall x d) = P V   ->   O^T = V^T P^T
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, d, tall, nk,
                                          &one, v, type, d, (long long)nk * d,
                                          P, type, nk, (long long)tall * nk,
                                          &zero, out, type, d, (long long)tall * d,
                                          groups, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));

  CUDA_CHECK(cudaFreeAsync(S, stream));
  if (!isFloat) CUDA_CHECK(cudaFreeAsync(P, stream));
}

template void sdpa(cublasHandle_t, const float*, const float*, const float*, float*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __half*, const __half*, const __half*, __half*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                   __nv_bfloat16*, const AttentionShape&, cudaStream_t);
