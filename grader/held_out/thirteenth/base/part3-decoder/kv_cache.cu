#include "kv_cache.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

namespace {

using Place = long long;

// A warp copies one head of one token. Of more tokens than slots, the first ones stay out.
template <typename T>
__global__ void put(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                    KvCacheShape shape, int skipped, Place copies) {
  const Place copy = Place{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32;
  if (copy >= copies) return;
  const int kept = shape.length - skipped;
  const int head = static_cast<int>(copy % shape.heads);
  const int token = skipped + static_cast<int>(copy / shape.heads % kept);
  const Place sequence = copy / shape.heads / kept;

  const int slot = positions[token] % shape.capacity;
  const Place from = ((sequence * shape.length + token) * shape.heads + head) * shape.head_dim;
  const Place to = ((sequence * shape.heads + head) * shape.capacity + slot) * shape.head_dim;
  for (int d = threadIdx.x % 32; d < shape.head_dim; d += 32) {
    key_cache[to + d] = k[from + d];
    value_cache[to + d] = v[from + d];
  }
}

}  // namespace

template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream) {
  const int skipped = shape.length > shape.capacity ? shape.length - shape.capacity : 0;
  const Place copies = Place{shape.batch} * (shape.length - skipped) * shape.heads;
  const unsigned blocks = static_cast<unsigned>((copies + 3) / 4);
  put<<<blocks, 128, 0, stream>>>(k, v, positions, key_cache, value_cache, shape, skipped, copies);
  CUDA_CHECK(cudaGetLastError());
}

template void kv_cache_append(const float*, const float*, const int*, float*, float*,
                              const KvCacheShape&, cudaStream_t);
template void kv_cache_append(const __nv_bfloat16*, const __nv_bfloat16*, const int*,
                              __nv_bfloat16*, __nv_bfloat16*, const KvCacheShape&, cudaStream_t);
