#include "kv_cache.h"

#include <cuda_bf16.h>

#include <algorithm>
#include <cstdint>

#include "toolkit/check.h"

namespace {

// Block (t, s) copies the t-th of the tokens that stay, of sequence s: all of its heads.
template <typename T>
__global__ void to_slots(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                         KvCacheShape shape, int skipped) {
  const int token = blockIdx.x + skipped;
  const std::int64_t sequence = blockIdx.y;
  const int slot = positions[token] % shape.capacity;
  const std::int64_t row = (sequence * shape.length + token) * shape.heads;
  for (int e = threadIdx.x; e < shape.heads * shape.head_dim; e += blockDim.x) {
    const int head = e / shape.head_dim;
    const int d = e % shape.head_dim;
    const std::int64_t from = row * shape.head_dim + e;
    const std::int64_t to =
        ((sequence * shape.heads + head) * shape.capacity + slot) * shape.head_dim + d;
    key_cache[to] = k[from];
    value_cache[to] = v[from];
  }
}

}  // namespace

template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream) {
  const int skipped = std::max(shape.length - shape.capacity, 0);
  const dim3 grid(shape.length - skipped, shape.batch);
  to_slots<<<grid, 128, 0, stream>>>(k, v, positions, key_cache, value_cache, shape, skipped);
  CUDA_CHECK(cudaGetLastError());
}

template void kv_cache_append(const float*, const float*, const int*, float*, float*,
                              const KvCacheShape&, cudaStream_t);
template void kv_cache_append(const __nv_bfloat16*, const __nv_bfloat16*, const int*,
                              __nv_bfloat16*, __nv_bfloat16*, const KvCacheShape&, cudaStream_t);
