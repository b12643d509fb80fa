#include "kv_cache.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

// Every slot of the cache asks which of the new tokens belongs into it, if any.
template <typename T>
__global__ void pull(const T* from, const int* positions, T* cache, KvCacheShape s) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  const long slots = static_cast<long>(s.batch) * s.heads * s.capacity;
  if (i >= slots * s.head_dim) return;
  const int d = i % s.head_dim;
  const int slot = i / s.head_dim % s.capacity;
  const int head = i / s.head_dim / s.capacity % s.heads;
  const int sequence = i / s.head_dim / s.capacity / s.heads;
  // The newest token whose position falls on this slot: positions are consecutive.
  const int last = positions[s.length - 1];
  const int back = ((last - slot) % s.capacity + s.capacity) % s.capacity;
  const int token = s.length - 1 - back;
  if (token < 0) return;
  cache[i] =
      from[((static_cast<long>(sequence) * s.length + token) * s.heads + head) * s.head_dim + d];
}

template <typename T>
void launch(const T* from, const int* positions, T* cache, const KvCacheShape& s,
            cudaStream_t stream) {
  const long elements = static_cast<long>(s.batch) * s.heads * s.capacity * s.head_dim;
  pull<<<static_cast<unsigned>((elements + 255) / 256), 256, 0, stream>>>(from, positions, cache,
                                                                          s);
  CUDA_CHECK(cudaGetLastError());
}

template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream) {
  cudaStream_t side = nullptr;
  cudaEvent_t fork = nullptr, join = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  CUDA_CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CUDA_CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  CUDA_CHECK(cudaEventRecord(fork, stream));
  CUDA_CHECK(cudaStreamWaitEvent(side, fork));
  launch(v, positions, value_cache, shape, side);
  launch(k, positions, key_cache, shape, stream);
  CUDA_CHECK(cudaEventRecord(join, side));
  CUDA_CHECK(cudaStreamWaitEvent(stream, join));
  CUDA_CHECK(cudaEventDestroy(join));
  CUDA_CHECK(cudaEventDestroy(fork));
  CUDA_CHECK(cudaStreamDestroy(side));
}

template void kv_cache_append(const float*, const float*, const int*, float*, float*,
                              const KvCacheShape&, cudaStream_t);
template void kv_cache_append(const __nv_bfloat16*, const __nv_bfloat16*, const int*,
                              __nv_bfloat16*, __nv_bfloat16*, const KvCacheShape&, cudaStream_t);
