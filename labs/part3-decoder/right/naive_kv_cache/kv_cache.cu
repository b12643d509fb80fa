#include "kv_cache.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

// One after the other: a later token of the same slot comes later.
template <typename T>
__global__ void append(const T* k, const T* v, const int* positions, T* keys, T* values,
                       KvCacheShape s) {
  const int batch = blockIdx.x;
  const int head = threadIdx.x;
  for (int token = 0; token < s.length; ++token) {
    const int slot = positions[token] % s.capacity;
    for (int d = 0; d < s.head_dim; ++d) {
      const size_t from =
          ((static_cast<size_t>(batch) * s.length + token) * s.heads + head) * s.head_dim + d;
      const size_t to =
          ((static_cast<size_t>(batch) * s.heads + head) * s.capacity + slot) * s.head_dim + d;
      keys[to] = k[from];
      values[to] = v[from];
    }
  }
}

template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream) {
  append<<<shape.batch, shape.heads, 0, stream>>>(k, v, positions, key_cache, value_cache, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void kv_cache_append(const float*, const float*, const int*, float*, float*,
                              const KvCacheShape&, cudaStream_t);
template void kv_cache_append(const __nv_bfloat16*, const __nv_bfloat16*, const int*,
                              __nv_bfloat16*, __nv_bfloat16*, const KvCacheShape&, cudaStream_t);
