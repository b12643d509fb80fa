#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "toolkit/check_cublas.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"
#include "warp.h"

namespace {

constexpr int kRows = 4;  // of scores in a block, a warp for each

// weights may be where scores are.
template <typename T>
__global__ void masked_softmax(const float* scores, T* weights, long long rows,
                               AttentionShape shape) {
  const int lane = threadIdx.x % 32;
  const long long row = (long long)blockIdx.x * kRows + threadIdx.x / 32;
  if (row >= rows) return;
  const int query = static_cast<int>(row % shape.query_length);
  int first = 0, end = shape.key_length;
  if (shape.causal) {
    end = query + 1 + shape.key_length - shape.query_length;
    if (shape.window > 0) first = max(0, end - shape.window);
  }

  const float* from = scores + row * shape.key_length;
  T* to = weights + row * shape.key_length;
  float top = -INFINITY;
  for (int j = first + lane; j < end; j += 32) top = fmaxf(top, from[j]);
  top = warp_max(top);
  float total = 0.0f;
  for (int j = first + lane; j < end; j += 32) total += expf(from[j] - top);
  total = warp_sum(total);
  for (int j = lane; j < shape.key_length; j += 32) {
    const bool seen = j >= first && j < end;
    to[j] = rooflab::from_float<T>(seen ? expf(from[j] - top) / total : 0.0f);
  }
}

template <typename T>
constexpr cudaDataType_t kType = std::is_same_v<T, float>    ? CUDA_R_32F
                                 : std::is_same_v<T, __half> ? CUDA_R_16F
                                                             : CUDA_R_16BF;

// The handle as this file needs it, and as it was when that is over.
class Modes {
 public:
  Modes(cublasHandle_t handle, cudaStream_t stream) : handle_(handle) {
    CUBLAS_CHECK(cublasSetStream(handle, stream));
    CUBLAS_CHECK(cublasGetPointerMode(handle, &pointers_));
    CUBLAS_CHECK(cublasGetMathMode(handle, &math_));
    CUBLAS_CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    CUBLAS_CHECK(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
  }
  ~Modes() {
    cublasSetPointerMode(handle_, pointers_);
    cublasSetMathMode(handle_, math_);
  }

 private:
  cublasHandle_t handle_;
  cublasPointerMode_t pointers_;
  cublasMath_t math_;
};

}  // namespace

template <typename T>
void sdpa(cublasHandle_t handle, const T* q, const T* k, const T* v, T* out,
          const AttentionShape& shape, cudaStream_t stream) {
  const Modes modes(handle, stream);
  // The query heads of a group lie one behind the other: together they are one matrix of queries.
  const int group = shape.query_heads / shape.key_value_heads;
  const int tall = group * shape.query_length, keys = shape.key_length, dim = shape.head_dim;
  const int matrices = shape.batch * shape.key_value_heads;
  const long long q_stride = (long long)tall * dim, k_stride = (long long)keys * dim;
  const long long s_stride = (long long)tall * keys;

  float* scores = nullptr;
  T* weights = nullptr;
  CUDA_CHECK(cudaMallocAsync(&scores, matrices * s_stride * sizeof(float), stream));
  if constexpr (std::is_same_v<T, float>) {
    weights = scores;
  } else {
    CUDA_CHECK(cudaMallocAsync(&weights, matrices * s_stride * sizeof(T), stream));
  }

  const float zero = 0.0f, one = 1.0f;
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(
      handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, tall, dim, &shape.scale, k, kType<T>, dim, k_stride,
      q, kType<T>, dim, q_stride, &zero, scores, CUDA_R_32F, keys, s_stride, matrices,
      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  const long long rows = (long long)matrices * tall;
  masked_softmax<<<static_cast<unsigned>((rows + kRows - 1) / kRows), kRows * 32, 0, stream>>>(
      scores, weights, rows, shape);
  CUDA_CHECK(cudaGetLastError());
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(
      handle, CUBLAS_OP_N, CUBLAS_OP_N, dim, tall, keys, &one, v, kType<T>, dim, k_stride, weights,
      kType<T>, keys, s_stride, &zero, out, kType<T>, dim, q_stride, matrices, CUBLAS_COMPUTE_32F,
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
