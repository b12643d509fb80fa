#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "toolkit/check_cublas.h"
#include "toolkit/vectors.h"

namespace {

template <typename T>
constexpr cudaDataType_t kType = std::is_same_v<T, float>    ? CUDA_R_32F
                                 : std::is_same_v<T, __half> ? CUDA_R_16F
                                                             : CUDA_R_16BF;

// Memory of the stream's order, given back when it goes out of scope.
template <typename T>
class Scratch {
 public:
  Scratch(size_t count, cudaStream_t stream) : stream_(stream) {
    CUDA_CHECK(cudaMallocAsync(reinterpret_cast<void**>(&data_), count * sizeof(T), stream));
  }
  ~Scratch() { cudaFreeAsync(data_, stream_); }
  Scratch(const Scratch&) = delete;
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  cudaStream_t stream_;
};

// A warp for each row. scores and weights may be the same array.
template <typename W>
__global__ void softmax(const float* scores, W* weights, AttentionShape s, size_t rows) {
  const size_t r = size_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (r >= rows) return;
  const int i = r % s.query_length;
  const int own = s.causal ? i + s.key_length - s.query_length : s.key_length - 1;
  const int from = s.causal && s.window > 0 ? max(own - s.window + 1, 0) : 0;
  const float* in = scores + r * s.key_length;
  W* to = weights + r * s.key_length;

  float top = -INFINITY;
  for (int j = from + threadIdx.x; j <= own; j += 32) top = fmaxf(top, in[j]);
  for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, d));
  float total = 0;
  for (int j = from + threadIdx.x; j <= own; j += 32) total += expf(in[j] - top);
  for (int d = 16; d > 0; d /= 2) total += __shfl_xor_sync(0xffffffff, total, d);

  for (int j = threadIdx.x; j < s.key_length; j += 32) {
    const bool seen = j >= from && j <= own;
    to[j] = rooflab::from_float<W>(seen ? expf(in[j] - top) / total : 0.0f);
  }
}

}  // namespace

template <typename T>
void sdpa(cublasHandle_t handle, const T* q, const T* k, const T* v, T* out,
          const AttentionShape& shape, cudaStream_t stream) {
  CUBLAS_CHECK(cublasSetStream(handle, stream));
  const int n = shape.query_length, m = shape.key_length, d = shape.head_dim;
  const int group = shape.query_heads / shape.key_value_heads;
  const size_t rows = size_t(shape.batch) * shape.query_heads * n;
  const float one = 1.0f, zero = 0.0f;

  const Scratch<float> scores(rows * m, stream);
  // For each key head: all its query heads in one call, which keeps the keys where they are.
  for (int h = 0; h < shape.batch * shape.key_value_heads; ++h) {
    const size_t first = size_t(h) * group * n;  // row of q
    CUBLAS_CHECK(cublasGemmStridedBatchedEx(
        handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, d, &shape.scale, k + size_t(h) * m * d, kType<T>, d,
        0, q + first * d, kType<T>, d, static_cast<long long>(n) * d, &zero,
        scores.data() + first * m, CUDA_R_32F, m, static_cast<long long>(n) * m, group,
        CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  }

  const auto finish = [&](T* weights) {
    const unsigned blocks = static_cast<unsigned>((rows + 3) / 4);
    softmax<<<blocks, dim3(32, 4), 0, stream>>>(scores.data(), weights, shape, rows);
    CUDA_CHECK(cudaGetLastError());
    for (int h = 0; h < shape.batch * shape.key_value_heads; ++h) {
      const size_t first = size_t(h) * group * n;
      CUBLAS_CHECK(cublasGemmStridedBatchedEx(
          handle, CUBLAS_OP_N, CUBLAS_OP_N, d, n, m, &one, v + size_t(h) * m * d, kType<T>, d, 0,
          weights + first * m, kType<T>, m, static_cast<long long>(n) * m, &zero, out + first * d,
          kType<T>, d, static_cast<long long>(n) * d, group, CUBLAS_COMPUTE_32F,
          CUBLAS_GEMM_DEFAULT));
    }
  };
  if constexpr (std::is_same_v<T, float>) {
    finish(scores.data());
  } else {
    const Scratch<T> weights(rows * m, stream);
    finish(weights.data());
  }
}

template void sdpa(cublasHandle_t, const float*, const float*, const float*, float*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __half*, const __half*, const __half*, __half*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                   __nv_bfloat16*, const AttentionShape&, cudaStream_t);
