#include "kv_cache.h"

#include <cuda_bf16.h>

#include <algorithm>
#include <cstdint>

#include "toolkit/check.h"

namespace {

// A warp for each vector of head_dim numbers, by grid-stride over all of (batch, kept, heads).
template <typename T>
__global__ void scatter(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                        KvCacheShape s, int kept) {
  const int lane = threadIdx.x % 32;
  const std::int64_t all = std::int64_t{s.batch} * kept * s.heads;
  const std::int64_t warps = std::int64_t{gridDim.x} * (blockDim.x / 32);
  std::int64_t job = std::int64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32;
  for (; job < all; job += warps) {
    const std::int64_t head = job % s.heads;
    const std::int64_t token = s.length - kept + job / s.heads % kept;
    const std::int64_t sequence = job / s.heads / kept;
    const std::int64_t slot = positions[token] % s.capacity;

    const std::int64_t from = ((sequence * s.length + token) * s.heads + head) * s.head_dim;
    const std::int64_t to = ((sequence * s.heads + head) * s.capacity + slot) * s.head_dim;
    for (int d = lane; d < s.head_dim; d += 32) {
      key_cache[to + d] = k[from + d];
      value_cache[to + d] = v[from + d];
    }
  }
}

}  // namespace

template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream) {
  const int kept = std::min(shape.length, shape.capacity);
  const std::int64_t jobs = std::int64_t{shape.batch} * kept * shape.heads;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>((jobs + 3) / 4, 2048));
  scatter<<<blocks, 128, 0, stream>>>(k, v, positions, key_cache, value_cache, shape, kept);
  CUDA_CHECK(cudaGetLastError());
}

template void kv_cache_append(const float*, const float*, const int*, float*, float*,
                              const KvCacheShape&, cudaStream_t);
template void kv_cache_append(const __nv_bfloat16*, const __nv_bfloat16*, const int*,
                              __nv_bfloat16*, __nv_bfloat16*, const KvCacheShape&, cudaStream_t);
