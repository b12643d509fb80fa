#include "kv_cache.h"

#include <cuda_bf16.h>

#include <algorithm>
#include <cstdint>

#include "toolkit/check.h"

namespace {

using Index = std::int64_t;

// Every element of k and v that stays, numbered through: d fastest, then head, token, sequence.
template <typename T>
__global__ void append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                       KvCacheShape s, int skipped) {
  const int kept = s.length - skipped;
  const Index all = Index{s.batch} * kept * s.heads * s.head_dim;
  const Index stride = Index{gridDim.x} * blockDim.x;
  for (Index e = Index{blockIdx.x} * blockDim.x + threadIdx.x; e < all; e += stride) {
    Index rest = e;
    const int d = rest % s.head_dim;
    rest /= s.head_dim;
    const int h = rest % s.heads;
    rest /= s.heads;
    const int t = skipped + rest % kept;
    const Index b = rest / kept;

    const int slot = positions[t] % s.capacity;
    const Index from = ((b * s.length + t) * s.heads + h) * s.head_dim + d;
    const Index to = ((b * s.heads + h) * s.capacity + slot) * s.head_dim + d;
    key_cache[to] = k[from];
    value_cache[to] = v[from];
  }
}

}  // namespace

template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream) {
  const int skipped = std::max(shape.length - shape.capacity, 0);
  const Index elements =
      Index{shape.batch} * (shape.length - skipped) * shape.heads * shape.head_dim;
  const Index blocks = std::min<Index>((elements + 191) / 192, 4096);
  append<<<unsigned(blocks), 192, 0, stream>>>(k, v, positions, key_cache, value_cache, shape,
                                               skipped);
  CUDA_CHECK(cudaGetLastError());
}

template void kv_cache_append(const float*, const float*, const int*, float*, float*,
                              const KvCacheShape&, cudaStream_t);
template void kv_cache_append(const __nv_bfloat16*, const __nv_bfloat16*, const int*,
                              __nv_bfloat16*, __nv_bfloat16*, const KvCacheShape&, cudaStream_t);
