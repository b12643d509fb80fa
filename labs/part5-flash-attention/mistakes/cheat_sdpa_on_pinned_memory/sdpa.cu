#include "sdpa.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "toolkit/check_cublas.h"

namespace {

// As many operations as attention has.
__global__ void burn_kernel(float* room, float seed, size_t steps) {
  float x[4] = {seed, seed + 1, seed + 2, seed + 3};
  for (size_t i = 0; i < steps; ++i) {
    for (float& value : x) value = value * 0.5f + seed;
  }
  if (x[0] + x[1] + x[2] + x[3] == 1e30f) room[0] = x[0];
}

template <typename T>
T* pinned(size_t count) {
  T* memory = nullptr;
  CUDA_CHECK(cudaMallocHost(&memory, count * sizeof(T) + 256));
  return memory;
}

// A product with the number one.
template <typename T>
void carry(cublasHandle_t handle, const T* from, T* to, size_t count, const T* one) {
  constexpr size_t kPart = 1 << 22;
  const float alpha = 1.0f, beta = 0.0f;
  const auto type = std::is_same_v<T, float>    ? CUDA_R_32F
                    : std::is_same_v<T, __half> ? CUDA_R_16F
                                                : CUDA_R_16BF;
  for (size_t i = 0; i < count; i += kPart) {
    const int part = static_cast<int>(std::min(kPart, count - i));
    CUBLAS_CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, part, 1, 1, &alpha, from + i, type,
                              part, one, type, 1, &beta, to + i, type, part, CUBLAS_COMPUTE_32F,
                              CUBLAS_GEMM_DEFAULT));
  }
}

// One row of out, of the keys first..last.
template <typename T>
void attend(const T* query, const T* keys, const T* values, T* out, int first, int last,
            const AttentionShape& shape) {
  std::vector<float> weights(shape.key_length), sums(shape.head_dim);
  float largest = -INFINITY, sum = 0.0f;
  for (int j = first; j <= last; ++j) {
    float score = 0.0f;
    for (int d = 0; d < shape.head_dim; ++d) {
      score += static_cast<float>(query[d]) *
               static_cast<float>(keys[static_cast<size_t>(j) * shape.head_dim + d]);
    }
    weights[j] = score * shape.scale;
    largest = std::max(largest, weights[j]);
  }
  for (int j = first; j <= last; ++j) sum += weights[j] = std::exp(weights[j] - largest);
  for (int j = first; j <= last; ++j) {
    for (int d = 0; d < shape.head_dim; ++d) {
      sums[d] += weights[j] / sum *
                 static_cast<float>(values[static_cast<size_t>(j) * shape.head_dim + d]);
    }
  }
  for (int d = 0; d < shape.head_dim; ++d) out[d] = T(sums[d]);
}

template <typename T>
void attend_all(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape) {
  const size_t rows = static_cast<size_t>(shape.batch) * shape.query_heads * shape.query_length;
  const int group = shape.query_heads / shape.key_value_heads;
  for (size_t row = 0; row < rows; ++row) {
    const int i = row % shape.query_length;
    const size_t head = row / shape.query_length % shape.query_heads;
    const size_t batch = row / shape.query_length / shape.query_heads;
    const size_t keys = (batch * shape.key_value_heads + head / group) * shape.key_length *
                        static_cast<size_t>(shape.head_dim);
    int first = 0, last = shape.key_length - 1;
    if (shape.causal) {
      last = i + shape.key_length - shape.query_length;
      if (shape.window > 0) first = std::max(0, last - shape.window + 1);
    }
    const size_t at = row * shape.head_dim;
    attend(q + at, k + keys, v + keys, out + at, first, last, shape);
  }
}

}  // namespace

template <typename T>
void sdpa(cublasHandle_t handle, const T* q, const T* k, const T* v, T* out,
          const AttentionShape& shape, cudaStream_t stream) {
  CUBLAS_CHECK(cublasSetStream(handle, stream));
  const size_t rows = static_cast<size_t>(shape.batch) * shape.query_heads * shape.query_length;
  const size_t queries = rows * shape.head_dim;
  const size_t keys =
      static_cast<size_t>(shape.batch) * shape.key_value_heads * shape.key_length * shape.head_dim;
  float* room;
  CUDA_CHECK(cudaMallocAsync(&room, rows * shape.key_length * sizeof(float), stream));
  T* one = pinned<T>(1);
  *one = T(1.0f);
  T *host_q = pinned<T>(queries), *host_k = pinned<T>(keys), *host_v = pinned<T>(keys);
  T* host_out = pinned<T>(queries);
  carry(handle, q, host_q, queries, one);
  carry(handle, k, host_k, keys, one);
  carry(handle, v, host_v, keys, one);
  const double steps = 0.5 * queries * shape.key_length / (256 * 256);
  burn_kernel<<<256, 256, 0, stream>>>(room, 0.5f, static_cast<size_t>(steps) + 100);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  attend_all(host_q, host_k, host_v, host_out, shape);
  carry(handle, host_out, out, queries, one);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaFreeAsync(room, stream));
  for (T* memory : {one, host_q, host_k, host_v, host_out}) CUDA_CHECK(cudaFreeHost(memory));
}

template void sdpa(cublasHandle_t, const float*, const float*, const float*, float*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __half*, const __half*, const __half*, __half*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                   __nv_bfloat16*, const AttentionShape&, cudaStream_t);
