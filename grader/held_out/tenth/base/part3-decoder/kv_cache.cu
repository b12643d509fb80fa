#include "kv_cache.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

namespace {

template <typename T>
__global__ void append(const T* k, const T* v, const int* positions, T* kc, T* vc, KvCacheShape s) {
  const int token = blockIdx.x;
  const int b = blockIdx.y;
  if (token < s.length - s.capacity) return;  // a later token takes this slot
  const int slot = positions[token] % s.capacity;
  const size_t source = (static_cast<size_t>(b) * s.length + token) * s.heads * s.head_dim;
  for (int h = 0; h < s.heads; ++h) {
    const size_t from = source + static_cast<size_t>(h) * s.head_dim;
    const size_t to = ((static_cast<size_t>(b) * s.heads + h) * s.capacity + slot) * s.head_dim;
    for (int d = threadIdx.x; d < s.head_dim; d += blockDim.x) {
      kc[to + d] = k[from + d];
      vc[to + d] = v[from + d];
    }
  }
}

}  // namespace

template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.length, shape.batch);
  append<T><<<grid, 64, 0, stream>>>(k, v, positions, key_cache, value_cache, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void kv_cache_append(const float*, const float*, const int*, float*, float*,
                              const KvCacheShape&, cudaStream_t);
template void kv_cache_append(const __nv_bfloat16*, const __nv_bfloat16*, const int*,
                              __nv_bfloat16*, __nv_bfloat16*, const KvCacheShape&, cudaStream_t);
