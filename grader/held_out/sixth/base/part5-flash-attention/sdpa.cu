#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>

#include <type_traits>

#include "toolkit/check_cublas.h"
#include "toolkit/vectors.h"

#define THREADS 128

template <typename T>
static cudaDataType_t type_of(void) {
  if (std::is_same<T, float>::value) return CUDA_R_32F;
  if (std::is_same<T, __half>::value) return CUDA_R_16F;
  return CUDA_R_16BF;
}

/* What one call of cuBLAS computes. Query heads that share a key head are one
   tall matrix of `rows` queries. */
struct batch_plan {
  int rows;
  int count;
  long long query_step;
  long long key_step;
  long long score_step;
};

static struct batch_plan plan_for(const AttentionShape& s) {
  struct batch_plan p;
  p.rows = s.query_heads / s.key_value_heads * s.query_length;
  p.count = s.batch * s.key_value_heads;
  p.query_step = (long long)p.rows * s.head_dim;
  p.key_step = (long long)s.key_length * s.head_dim;
  p.score_step = (long long)p.rows * s.key_length;
  return p;
}

/* Keys first ... end - 1 are those that query i sees. */
__device__ static void visible_range(int i, const struct AttentionShape& s, int* first, int* end) {
  *first = 0;
  *end = s.key_length;
  if (!s.causal) return;
  *end = i + 1 + s.key_length - s.query_length;
  if (s.window > 0) *first = max(0, *end - s.window);
}

/* All threads get the sum, or the largest, of what they hold. */
__device__ static float combine(float mine, bool largest) {
  __shared__ float held[THREADS];
  int half;
  __syncthreads();
  held[threadIdx.x] = mine;
  for (half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      float a = held[threadIdx.x];
      float b = held[threadIdx.x + half];
      held[threadIdx.x] = largest ? fmaxf(a, b) : a + b;
    }
  }
  __syncthreads();
  return held[0];
}

template <typename T>
__global__ void softmax_kernel(const float* scores, T* weights, struct AttentionShape s) {
  long long row = blockIdx.x;
  int i = (int)(row % s.query_length);
  const float* from = scores + row * s.key_length;
  T* to = weights + row * s.key_length;
  int first, end, j;
  visible_range(i, s, &first, &end);

  float largest = -INFINITY;
  for (j = first + threadIdx.x; j < end; j += THREADS) largest = fmaxf(largest, from[j]);
  largest = combine(largest, true);

  float sum = 0.0f;
  for (j = first + threadIdx.x; j < end; j += THREADS) sum += expf(from[j] - largest);
  sum = combine(sum, false);

  for (j = threadIdx.x; j < s.key_length; j += THREADS) {
    bool seen = j >= first && j < end;
    float weight = seen ? expf(from[j] - largest) / sum : 0.0f;
    to[j] = rooflab::from_float<T>(weight);
  }
}

template <typename T>
void sdpa(cublasHandle_t handle, const T* q, const T* k, const T* v, T* out,
          const AttentionShape& shape, cudaStream_t stream) {
  struct batch_plan p = plan_for(shape);
  size_t count = (size_t)p.count * p.score_step;
  float* scores = nullptr;
  T* weights = nullptr;
  const float one = 1.0f;
  const float zero = 0.0f;
  int d = shape.head_dim;
  int keys = shape.key_length;

  CUDA_CHECK(cudaMallocAsync(&scores, count * sizeof(float), stream));
  if (std::is_same<T, float>::value) {
    weights = (T*)scores;
  } else {
    CUDA_CHECK(cudaMallocAsync(&weights, count * sizeof(T), stream));
  }
  CUBLAS_CHECK(cublasSetStream(handle, stream));

  /* scores^T (keys x rows) = k q^T, column by column */
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(
      handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, p.rows, d, &shape.scale,
      k, type_of<T>(), d, p.key_step,
      q, type_of<T>(), d, p.query_step, &zero,
      scores, CUDA_R_32F, keys, p.score_step,
      p.count, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));

  int all_rows = p.count * p.rows;
  softmax_kernel<T><<<all_rows, THREADS, 0, stream>>>(scores, weights, shape);
  CUDA_CHECK(cudaGetLastError());

  /* out^T (d x rows) = v^T weights^T */
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(
      handle, CUBLAS_OP_N, CUBLAS_OP_N, d, p.rows, keys, &one,
      v, type_of<T>(), d, p.key_step,
      weights, type_of<T>(), keys, p.score_step, &zero,
      out, type_of<T>(), d, p.query_step,
      p.count, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));

  if (!std::is_same<T, float>::value) CUDA_CHECK(cudaFreeAsync(weights, stream));
  CUDA_CHECK(cudaFreeAsync(scores, stream));
}

template void sdpa(cublasHandle_t, const float*, const float*, const float*, float*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __half*, const __half*, const __half*, __half*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                   __nv_bfloat16*, const AttentionShape&, cudaStream_t);
