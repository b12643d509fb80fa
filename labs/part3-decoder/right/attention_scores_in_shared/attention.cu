#include "attention.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

constexpr int kThreads = 256;
constexpr int kRoom = 14 * 1024;  // scores in shared memory: more than a block gets unasked

template <typename T>
__global__ void whole_rows(const T* q, const T* keys, const T* values, const int* positions, T* out,
                           AttentionShape s) {
  extern __shared__ float scores[];
  __shared__ float largest_of_warp[kThreads / 32];
  __shared__ double total;
  const int query = blockIdx.x % s.query_length, sequence = blockIdx.x / s.query_length;
  const int head = blockIdx.y, shared_by = s.query_heads / s.key_value_heads;
  q += ((sequence * static_cast<long>(s.query_length) + query) * s.query_heads + head) * s.head_dim;
  out +=
      ((sequence * static_cast<long>(s.query_length) + query) * s.query_heads + head) * s.head_dim;
  const long cache =
      (sequence * static_cast<long>(s.key_value_heads) + head / shared_by) * s.capacity;
  const int last = positions[query];
  const int first = s.window > 0 ? max(0, last - s.window + 1) : 0;
  const int count = last - first + 1;

  // A warp takes a key, its lanes share the dimensions. A row with more keys than there is room for
  // takes several goes, each of which shrinks what came before.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float largest = -INFINITY, sum = 0;
  if (threadIdx.x == 0) total = 0;
  for (int begin = 0; begin < count; begin += kRoom) {
    const int size = min(kRoom, count - begin), start = first + begin;
    float before = largest;
    for (int j = warp; j < size; j += kThreads / 32) {
      const T* key = keys + (cache + (start + j) % s.capacity) * s.head_dim;
      float dot = 0;
      for (int d = lane; d < s.head_dim; d += 32)
        dot += rooflab::to_float(q[d]) * rooflab::to_float(key[d]);
      for (int step = 16; step > 0; step /= 2) dot += __shfl_xor_sync(0xffffffff, dot, step);
      if (lane == 0) scores[j] = dot * s.scale;
      largest = fmaxf(largest, dot * s.scale);
    }
    if (lane == 0) largest_of_warp[warp] = largest;
    __syncthreads();
    for (const float one : largest_of_warp) largest = fmaxf(largest, one);
    const float shrink = expf(before - largest);
    if (threadIdx.x == 0) total *= shrink;
    __syncthreads();
    double mine = 0;
    for (int j = threadIdx.x; j < size; j += kThreads) {
      scores[j] = expf(scores[j] - largest);
      mine += scores[j];
    }
    for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(0xffffffff, mine, step);
    if (lane == 0) atomicAdd(&total, mine);
    __syncthreads();
    sum *= shrink;
    for (int j = 0; j < size && threadIdx.x < s.head_dim; ++j) {
      sum += scores[j] * rooflab::to_float(
                             values[(cache + (start + j) % s.capacity) * s.head_dim + threadIdx.x]);
    }
    __syncthreads();
  }
  if (threadIdx.x < s.head_dim) {
    out[threadIdx.x] = rooflab::from_float<T>(sum / static_cast<float>(total));
  }
}

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& s, cudaStream_t stream) {
  constexpr int kBytes = kRoom * sizeof(float);
  CUDA_CHECK(
      cudaFuncSetAttribute(whole_rows<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const dim3 grid(s.batch * s.query_length, s.query_heads);
  whole_rows<<<grid, kThreads, kBytes, stream>>>(q, keys, values, positions, out, s);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
