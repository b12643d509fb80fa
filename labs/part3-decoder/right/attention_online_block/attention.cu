#include "attention.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

constexpr int kThreads = 128;
constexpr int kMostDims = 256;
constexpr int kWarps = kThreads / 32;

__device__ float block_max(float value, float* scratch) {
  for (int d = 16; d; d /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, d));
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  for (int w = 0; w < kWarps; ++w) value = fmaxf(value, scratch[w]);
  __syncthreads();
  return value;
}
__device__ float block_sum(float value, float* scratch) {
  for (int d = 16; d; d /= 2) value += __shfl_xor_sync(0xffffffff, value, d);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0;
  for (int w = 0; w < kWarps; ++w) value += scratch[w];
  __syncthreads();
  return value;
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    one_query(const T* q, const T* keys, const T* values, const int* positions, T* out,
              AttentionShape s) {
  __shared__ float query[kMostDims];
  __shared__ float weights[kThreads];
  __shared__ float scratch[kWarps];
  const int head = blockIdx.y, sequence = blockIdx.z;
  const long row =
      ((static_cast<long>(sequence) * s.query_length + blockIdx.x) * s.query_heads + head) *
      s.head_dim;
  const int kv_head = head / (s.query_heads / s.key_value_heads);
  const long cache =
      (static_cast<long>(sequence) * s.key_value_heads + kv_head) * s.capacity * s.head_dim;
  for (int d = threadIdx.x; d < s.head_dim; d += kThreads) {
    query[d] = rooflab::to_float(q[row + d]) * s.scale;
  }
  __syncthreads();

  const int last = positions[blockIdx.x];
  const int first = s.window == 0 ? 0 : max(0, last - s.window + 1);
  float largest = -INFINITY, sum = 0;
  float results[kMostDims / kThreads] = {};
  for (int chunk = first; chunk <= last; chunk += kThreads) {
    const int position = chunk + threadIdx.x;
    float score = -INFINITY;
    if (position <= last) {
      const T* key = keys + cache + static_cast<long>(position % s.capacity) * s.head_dim;
      float dot = 0;
      for (int d = 0; d < s.head_dim; d += rooflab::kVectorSize<T>) {
        float part[rooflab::kVectorSize<T>];
        rooflab::load(key + d, s.head_dim - d, part);
        for (int i = 0; i < rooflab::kVectorSize<T>; ++i) {
          if (d + i < s.head_dim) dot += query[d + i] * part[i];
        }
      }
      score = dot;
    }
    const float next = fmaxf(largest, block_max(score, scratch));
    const float shrink = __expf(largest - next);  // 0 for the first chunk
    const float weight = position <= last ? __expf(score - next) : 0.0f;
    weights[threadIdx.x] = weight;
    sum = sum * shrink + block_sum(weight, scratch);  // its barriers order the weights, too
    const int keys_here = min(kThreads, last - chunk + 1);
    for (int r = 0; r < kMostDims / kThreads; ++r) {
      const int d = threadIdx.x + r * kThreads;
      if (d >= s.head_dim) break;
      float result = results[r] * shrink;
      for (int j = 0; j < keys_here; ++j) {
        const long slot = (chunk + j) % s.capacity;
        result += weights[j] * rooflab::to_float(values[cache + slot * s.head_dim + d]);
      }
      results[r] = result;
    }
    largest = next;
    __syncthreads();  // the weights are read
  }
  for (int r = 0; r < kMostDims / kThreads; ++r) {
    const int d = threadIdx.x + r * kThreads;
    if (d >= s.head_dim) return;
    out[row + d] = rooflab::from_float<T>(results[r] / sum);
  }
}

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.query_length, shape.query_heads, shape.batch);
  one_query<<<grid, kThreads, 0, stream>>>(q, keys, values, positions, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
