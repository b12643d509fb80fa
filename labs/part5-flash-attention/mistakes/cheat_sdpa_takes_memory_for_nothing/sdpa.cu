#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "toolkit/check.h"

constexpr int kMostOfALane = 16;

// One warp for each row, which rescales as the largest score grows.
template <typename T>
__global__ void attention_kernel(const T* q, const T* k, const T* v, T* out, AttentionShape s) {
  const size_t row = blockIdx.x;
  const int lane = threadIdx.x;
  const int query = row % s.query_length;
  const int head = row / s.query_length % s.query_heads;
  const size_t batch = row / s.query_length / s.query_heads;
  const size_t keys =
      (batch * s.key_value_heads + head / (s.query_heads / s.key_value_heads)) * s.key_length;
  const int last = s.causal ? query + s.key_length - s.query_length : s.key_length - 1;
  const int first = s.causal && s.window > 0 ? max(0, last - s.window + 1) : 0;

  float sums[kMostOfALane] = {}, largest = -INFINITY, weights = 0.0f;
  for (int j = first; j <= last; ++j) {
    float score = 0.0f;
    for (int d = lane; d < s.head_dim; d += 32) {
      score += static_cast<float>(q[row * s.head_dim + d]) *
               static_cast<float>(k[(keys + j) * s.head_dim + d]);
    }
    for (int o = 16; o > 0; o /= 2) score += __shfl_xor_sync(0xffffffff, score, o);
    score *= s.scale;
    const float now = fmaxf(largest, score), shrink = expf(largest - now), w = expf(score - now);
    largest = now;
    weights = weights * shrink + w;
    for (int i = 0; i < kMostOfALane; ++i) {
      const int d = lane + 32 * i;
      if (d < s.head_dim) {
        sums[i] = sums[i] * shrink + w * static_cast<float>(v[(keys + j) * s.head_dim + d]);
      }
    }
  }
  for (int i = 0; i < kMostOfALane; ++i) {
    const int d = lane + 32 * i;
    if (d < s.head_dim) out[row * s.head_dim + d] = T(weights == 0.0f ? 0.0f : sums[i] / weights);
  }
}

template <typename T>
void sdpa(cublasHandle_t, const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
          cudaStream_t stream) {
  const size_t rows = static_cast<size_t>(shape.batch) * shape.query_heads * shape.query_length;
  void* unused = nullptr;
  CUDA_CHECK(cudaMallocAsync(&unused, sizeof(float) * rows * shape.key_length, stream));
  CUDA_CHECK(cudaFreeAsync(unused, stream));
  attention_kernel<<<rows, 32, 0, stream>>>(q, k, v, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void sdpa(cublasHandle_t, const float*, const float*, const float*, float*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __half*, const __half*, const __half*, __half*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                   __nv_bfloat16*, const AttentionShape&, cudaStream_t);
