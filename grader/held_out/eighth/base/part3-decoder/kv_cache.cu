#include "kv_cache.h"

#include <cuda_bf16.h>

#include <algorithm>
#include <cstdint>

#include "toolkit/check.h"

// The elements of one sequence's new tokens are numbered through; batch is the grid's y.
template <typename T>
__global__ void put_tokens(const T* k, const T* v, const int* positions, T* key_cache,
                           T* value_cache, KvCacheShape s, int dropped) {
  const std::int64_t token_size = static_cast<std::int64_t>(s.heads) * s.head_dim;
  const std::int64_t all = s.length * token_size;
  const std::int64_t source = blockIdx.y * all;
  const std::int64_t target = blockIdx.y * token_size * s.capacity;
  const std::int64_t hop = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t e = blockIdx.x * blockDim.x + threadIdx.x; e < all; e += hop) {
    const int token = e / token_size;
    if (token < dropped) continue;  // a later token takes its slot
    const int head = e % token_size / s.head_dim;
    const int d = e % s.head_dim;
    const int slot = positions[token] % s.capacity;
    const std::int64_t row = static_cast<std::int64_t>(head) * s.capacity + slot;
    key_cache[target + row * s.head_dim + d] = k[source + e];
    value_cache[target + row * s.head_dim + d] = v[source + e];
  }
}

template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream) {
  const std::int64_t elements =
      static_cast<std::int64_t>(shape.length) * shape.heads * shape.head_dim;
  const std::int64_t blocks = (elements + 127) / 128;
  const int dropped = std::max(0, shape.length - shape.capacity);
  const dim3 grid(static_cast<unsigned>(std::min<std::int64_t>(blocks, 8192)), shape.batch);
  put_tokens<<<grid, 128, 0, stream>>>(k, v, positions, key_cache, value_cache, shape, dropped);
  CUDA_CHECK(cudaGetLastError());
}

template void kv_cache_append(const float*, const float*, const int*, float*, float*,
                              const KvCacheShape&, cudaStream_t);
template void kv_cache_append(const __nv_bfloat16*, const __nv_bfloat16*, const int*,
                              __nv_bfloat16*, __nv_bfloat16*, const KvCacheShape&, cudaStream_t);
