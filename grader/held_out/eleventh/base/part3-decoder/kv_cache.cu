#include "kv_cache.h"

#include <cuda_bf16.h>

#include <algorithm>
#include <cstdint>

#include "toolkit/check.h"

namespace {

using Index = std::int64_t;

// blockIdx.y is the sequence; the threads of its blocks share the elements of its new tokens.
template <typename T>
__global__ void put(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                    KvCacheShape shape) {
  const Index sequence = blockIdx.y;
  const Index of_token = static_cast<Index>(shape.heads) * shape.head_dim;
  const int skipped = max(shape.length - shape.capacity, 0);
  const Index elements = (shape.length - skipped) * of_token;
  const Index stride = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index e = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; e < elements;
       e += stride) {
    const int token = skipped + static_cast<int>(e / of_token);
    const int head = e % of_token / shape.head_dim;
    const int d = e % shape.head_dim;
    const int slot = positions[token] % shape.capacity;
    const Index from = (sequence * shape.length + token) * of_token + head * shape.head_dim + d;
    const Index row = (sequence * shape.heads + head) * shape.capacity + slot;
    key_cache[row * shape.head_dim + d] = k[from];
    value_cache[row * shape.head_dim + d] = v[from];
  }
}

}  // namespace

template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream) {
  constexpr int kThreads = 128;
  const Index most = static_cast<Index>(shape.length) * shape.heads * shape.head_dim;
  const auto along = static_cast<unsigned>(std::min<Index>((most + kThreads - 1) / kThreads, 4096));
  put<<<dim3(along, shape.batch), kThreads, 0, stream>>>(k, v, positions, key_cache, value_cache,
                                                         shape);
  CUDA_CHECK(cudaGetLastError());
}

template void kv_cache_append(const float*, const float*, const int*, float*, float*,
                              const KvCacheShape&, cudaStream_t);
template void kv_cache_append(const __nv_bfloat16*, const __nv_bfloat16*, const int*,
                              __nv_bfloat16*, __nv_bfloat16*, const KvCacheShape&, cudaStream_t);
