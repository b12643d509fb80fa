#include "kv_cache.h"

#include <cuda_bf16.h>

#include <cstdint>

#include "toolkit/check.h"

#define THREADS 64

/* Index of element 0 of a head in the new arrays, (batch, length, heads, head_dim). */
__device__ static std::int64_t new_row(struct KvCacheShape s, int b, int t, int h) {
  std::int64_t token = (std::int64_t)b * s.length + t;
  return (token * s.heads + h) * s.head_dim;
}

/* The same in the cache, (batch, heads, capacity, head_dim). */
__device__ static std::int64_t cache_row(struct KvCacheShape s, int b, int h, int slot) {
  std::int64_t ring = (std::int64_t)b * s.heads + h;
  return (ring * s.capacity + slot) * s.head_dim;
}

template <typename T>
__global__ void append_kernel(const T* k, const T* v, const int* positions, T* key_cache,
                              T* value_cache, struct KvCacheShape s, int first) {
  int t = first + blockIdx.x;
  int b = blockIdx.y;
  int slot = positions[t] % s.capacity;
  int h, d;

  for (h = 0; h < s.heads; h++) {
    std::int64_t from = new_row(s, b, t, h);
    std::int64_t to = cache_row(s, b, h, slot);
    for (d = threadIdx.x; d < s.head_dim; d += THREADS) {
      key_cache[to + d] = k[from + d];
      value_cache[to + d] = v[from + d];
    }
  }
}

template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream) {
  int first = shape.length - shape.capacity; /* older tokens would be overwritten at once */
  if (first < 0) first = 0;
  dim3 grid(shape.length - first, shape.batch);
  append_kernel<T><<<grid, THREADS, 0, stream>>>(k, v, positions, key_cache, value_cache, shape,
                                                 first);
  CUDA_CHECK(cudaGetLastError());
}

template void kv_cache_append(const float*, const float*, const int*, float*, float*,
                              const KvCacheShape&, cudaStream_t);
template void kv_cache_append(const __nv_bfloat16*, const __nv_bfloat16*, const int*,
                              __nv_bfloat16*, __nv_bfloat16*, const KvCacheShape&, cudaStream_t);
